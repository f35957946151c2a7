"""What the references of the skill contain, and in which order: the most useful first."""

from typing import NamedTuple


class Section(NamedTuple):
    """A heading, a sentence or two below it, and names of Manim."""

    title: str
    names: str
    text: str = ""
    has_methods: bool = True


MOBJECTS = (
    Section(
        "Every mobject",
        "Mobject VMobject",
        "Methods that change a mobject return it, so calls can be chained; `mobject.animate.method(…)` in "
        "`self.play` animates them. Directions are `UP`, `DOWN`, `LEFT`, `RIGHT`, `IN`, `OUT`, `UL`, `UR`, "
        "`DL`, `DR`, and points are arrays of three numbers.",
    ),
    Section(
        "Groups",
        "VGroup Group VDict",
        "`VGroup` takes mobjects made of outlines. Anything else, such as an `ImageMobject`, needs a "
        "`Group`.",
    ),
    Section(
        "Round shapes",
        "Circle Dot Arc Ellipse Annulus Sector AnnularSector ArcBetweenPoints LabeledDot AnnotationDot "
        "CubicBezier TangentialArc ArcPolygon ArcPolygonFromArcs TipableVMobject",
    ),
    Section(
        "Polygons",
        "Square Rectangle RoundedRectangle Polygon RegularPolygon Triangle Star Polygram RegularPolygram "
        "LabeledPolygram Cutout ConvexHull ScreenRectangle FullScreenRectangle",
    ),
    Section(
        "Lines, arrows and angles",
        "Line Arrow DashedLine Vector DoubleArrow CurvedArrow CurvedDoubleArrow Angle RightAngle Elbow "
        "TangentLine LabeledLine LabeledArrow",
        "`Arrow` leaves a gap of `buff=0.25` at both ends: give `buff=0` to reach the points.",
    ),
    Section(
        "Frames, braces and marks around others",
        "SurroundingRectangle Brace BackgroundRectangle Underline Cross BraceLabel BraceText "
        "BraceBetweenPoints ArcBrace Label",
    ),
    Section(
        "Axes and plots",
        "Axes NumberPlane CoordinateSystem NumberLine BarChart ParametricFunction FunctionGraph "
        "ImplicitFunction PolarPlane ComplexPlane UnitInterval SampleSpace LinearBase LogBase",
        "`Axes`, `NumberPlane` and `ThreeDAxes` have the methods of `CoordinateSystem`. Plot with "
        "`axes.plot(lambda x: x**2, x_range=[-2, 2])`, and place with `axes.c2p(x, y)`.",
    ),
    Section(
        "Values that change",
        "ValueTracker ComplexValueTracker TracedPath AnimatedBoundary always_redraw always f_always "
        "always_shift always_rotate turn_animation_into_updater cycle_animation",
        "Read a tracker with `.get_value()` inside `always_redraw(lambda: …)` or an updater; animate it with "
        "`tracker.animate.set_value(x)`.",
    ),
    Section(
        "Tables and matrices",
        "Table MathTable IntegerTable DecimalTable MobjectTable Matrix IntegerMatrix DecimalMatrix "
        "MobjectMatrix matrix_to_tex_string matrix_to_mobject get_det_text",
        "`Table` takes rows of texts; `MathTable` rows of formulas. Numbers must be text, except in "
        "`IntegerTable` and `DecimalTable`.",
    ),
    Section("Graphs of vertices and edges", "Graph DiGraph"),
    Section("Pictures and outlines from files", "ImageMobject SVGMobject VMobjectFromSVGPath"),
    Section(
        "Three dimensions",
        "ThreeDAxes Surface Sphere Dot3D Cube Prism Cone Cylinder Torus Line3D Arrow3D Tetrahedron "
        "Octahedron Icosahedron Dodecahedron Polyhedron ConvexHull3D ThreeDVMobject",
        "In a `ThreeDScene`: see `cameras.md`.",
    ),
    Section("Vector fields", "ArrowVectorField StreamLines VectorField"),
    Section(
        "Shapes from shapes",
        "Union Intersection Difference Exclusion DashedVMobject CurvesAsSubmobjects VectorizedPoint",
    ),
    Section(
        "Point clouds",
        "PointCloudDot PMobject PGroup Mobject1D Mobject2D Point ImageMobjectFromCamera",
        "",
        False,
    ),
    Section(
        "Tips of arrows",
        "ArrowTriangleFilledTip ArrowTriangleTip ArrowCircleFilledTip ArrowCircleTip ArrowSquareFilledTip "
        "ArrowSquareTip StealthTip ArrowTip",
        "As `tip_shape=` of an arrow.",
    ),
    Section("Logo", "ManimBanner"),
    Section(
        "Colours",
        "ManimColor color_gradient interpolate_color average_color invert_color random_color "
        "random_bright_color",
    ),
    Section(
        "Points and vectors",
        "midpoint normalize angle_of_vector angle_between_vectors rotate_vector line_intersection "
        "center_of_mass compass_directions regular_vertices interpolate inverse_interpolate",
        "`numpy` is `np` after `from manim import *`.",
    ),
)

ANIMATIONS = (
    Section(
        "How animations are played",
        "Animation Wait Add",
        "`self.play(animation, …, run_time=2, rate_func=linear)` plays all its animations at once. Every "
        "animation takes `run_time` (seconds, 1 by default), `rate_func` (`smooth` by default) and "
        "`lag_ratio` as keywords. `self.wait(seconds)` holds the picture.",
    ),
    Section("Appear and disappear", "FadeIn FadeOut Create Uncreate Write Unwrite DrawBorderThenFill"),
    Section(
        "Change into something else",
        "Transform ReplacementTransform TransformMatchingTex TransformMatchingShapes TransformFromCopy "
        "FadeTransform FadeTransformPieces MoveToTarget Restore ApplyMethod Swap CyclicReplace "
        "ClockwiseTransform CounterclockwiseTransform TransformAnimations",
        "After `Transform(a, b)` the scene contains `a`, which looks like `b`; after "
        "`ReplacementTransform(a, b)` it contains `b`.",
    ),
    Section(
        "Draw attention",
        "Indicate Circumscribe Flash FocusOn Wiggle ShowPassingFlash ApplyWave Blink "
        "ShowPassingFlashWithThinningStrokeWidth Broadcast",
    ),
    Section("Several animations", "AnimationGroup LaggedStart Succession LaggedStartMap ChangeSpeed"),
    Section(
        "Grow and shrink",
        "GrowFromCenter GrowArrow GrowFromPoint GrowFromEdge SpinInFromNothing ShrinkToCenter",
    ),
    Section(
        "Move and turn",
        "MoveAlongPath Rotate Rotating Homotopy ComplexHomotopy PhaseFlow SmoothedVectorizedHomotopy",
    ),
    Section(
        "Text, letter by letter",
        "AddTextLetterByLetter RemoveTextLetterByLetter AddTextWordByWord TypeWithCursor UntypeWithCursor",
    ),
    Section(
        "Part by part",
        "ShowIncreasingSubsets ShowSubmobjectsOneByOne SpiralIn ShowPartial",
    ),
    Section(
        "Numbers and updates",
        "ChangeDecimalToValue ChangingDecimal UpdateFromFunc UpdateFromAlphaFunc MaintainPositionRelativeTo",
        "A `ValueTracker` is usually simpler: see `mobjects.md`.",
    ),
    Section(
        "Apply a function",
        "ApplyMatrix ApplyPointwiseFunction ApplyComplexFunction ApplyFunction "
        "ApplyPointwiseFunctionToCenter FadeToColor ScaleInPlace",
    ),
    Section(
        "Rate functions",
        "linear smooth there_and_back rush_into rush_from slow_into double_smooth there_and_back_with_pause "
        "running_start wiggle lingering exponential_decay not_quite_there squish_rate_func smoothstep "
        "smootherstep smoothererstep",
        "The easing functions of CSS are in a namespace: `rate_func=rate_functions.ease_in_out_sine`.",
    ),
    Section(
        "Paths of transforms",
        "straight_path path_along_arc clockwise_path counterclockwise_path",
        "As `path_func=`.",
    ),
)

CAMERAS = (
    Section(
        "Every scene",
        "Scene",
        "The frame is 14.22 wide and 8 high in `16:9` (`config.frame_width`, `config.frame_height`), with "
        "the origin in its middle; in `9:16` it is 8 wide and 14.22 high.",
    ),
    Section(
        "A camera that moves and zooms",
        "MovingCameraScene",
        "`self.camera.frame` is a mobject: `self.play(self.camera.frame.animate.set(width=6).move_to(dot))`. "
        "`self.camera.frame.save_state()` and `Restore(self.camera.frame)` come back.",
    ),
    Section(
        "Three dimensions",
        "ThreeDScene SpecialThreeDScene",
        "Begin with `self.set_camera_orientation(phi=70 * DEGREES, theta=-45 * DEGREES)`. Labels turn with "
        "the camera unless they are added with `self.add_fixed_in_frame_mobjects(label)`; remove them from "
        "what is shown with `self.remove(label)` if they shall appear later by an animation.",
    ),
    Section("A magnified part beside the picture", "ZoomedScene"),
    Section("Vectors and matrices of the plane", "LinearTransformationScene VectorScene"),
    Section(
        "Cameras",
        "Camera MovingCamera ThreeDCamera MultiCamera MappingCamera SplitScreenCamera OldMultiCamera",
        "`self.camera.background_color = color` sets the background.",
        False,
    ),
)

TEX = (
    Section(
        "Text without TeX",
        "Text MarkupText Paragraph",
        "Any language and any font that is installed. Colours of words: `Text('a word', t2c={'word': "
        "BLUE})`.",
    ),
    Section(
        "Formulas",
        "MathTex Tex SingleStringMathTex",
        "`MathTex` is in math mode, `Tex` in text mode with formulas between `$…$`. Write raw strings, "
        "`r'\\frac{a}{b}'`. Pass parts that are coloured or transformed as strings of their own: "
        "`MathTex('a', '+', 'b')[0]`. Each part must be complete TeX with all its braces.",
    ),
    Section("Lists and titles", "Title BulletedList"),
    Section("Numbers", "DecimalNumber Integer Variable"),
    Section("Code", "Code", "`Code(code_string='…', language='python')`."),
    Section("Typst instead of TeX", "Typst MathTypst"),
    Section("Templates", "TexTemplate", "As `tex_template=` of `Tex` and `MathTex`."),
)

# Public, but of no use to authors here: for developers of Manim, for the OpenGL renderer, or replaced.
UNLISTED = (
    "BackgroundColoredVMobjectDisplayer RendererType LineJointType CapStyleType Manager CairoRenderer "
    "SceneFileWriter Section DefaultSectionType RandomColorGenerator HSV RGBA DictAsObject TrueDot DotCloud "
    "OpenGLPMobject OpenGLPGroup OpenGLPMPoint TexTemplateLibrary TexFontTemplates"
)

# The methods that authors use most, in this order; those of other classes are in the order of Manim's source.
METHODS = {
    "Animation": "set_run_time set_rate_func copy",
    "Mobject": "move_to next_to to_edge to_corner shift scale rotate animate set_color align_to arrange "
    "arrange_in_grid copy add remove get_center get_top get_bottom get_left get_right get_corner width "
    "height set_x set_y set_z get_x get_y get_z scale_to_fit_width scale_to_fit_height stretch flip "
    "set_z_index add_updater remove_updater clear_updaters become replace surround match_width "
    "match_height match_color generate_target save_state restore add_background_rectangle fade center "
    "add_to_back set rotate_about_origin stretch_to_fit_width stretch_to_fit_height set_color_by_gradient "
    "apply_function apply_matrix apply_complex_function point_from_proportion get_start get_end shuffle "
    "sort reverse_points invert insert match_x match_y match_points suspend_updating resume_updating "
    "get_midpoint get_critical_point get_start_and_end",
    "VMobject": "set_fill set_stroke set_opacity set_style set_points_as_corners set_points_smoothly "
    "add_points_as_corners make_smooth make_jagged pointwise_become_partial get_subcurve "
    "proportion_from_point set_background_stroke set_sheen set_sheen_direction get_fill_color "
    "get_stroke_color get_fill_opacity get_stroke_width start_new_path add_line_to "
    "add_cubic_bezier_curve_to close_path get_anchors get_arc_length insert_n_curves force_direction "
    "reverse_direction",
    "Scene": "play wait add remove clear wait_until add_updater bring_to_front bring_to_back add_sound "
    "add_subcaption next_section replace camera time add_foreground_mobjects remove_foreground_mobjects "
    "remove_updater pause",
    "CoordinateSystem": "plot c2p p2c get_axis_labels get_x_axis_label get_y_axis_label get_graph_label "
    "add_coordinates get_area get_riemann_rectangles i2gp input_to_graph_point plot_parametric_curve "
    "plot_implicit_curve plot_polar_graph get_vertical_line get_horizontal_line get_lines_to_point "
    "get_secant_slope_group plot_derivative_graph plot_antiderivative_graph angle_of_tangent "
    "slope_of_tangent get_T_label get_vertical_lines_to_graph get_origin get_x_axis get_y_axis "
    "polar_to_point get_line_from_axis_to_point plot_surface",
}

# What methods without a docstring do.
SAID = {
    "Mobject.set_color": "Set the colour of fill and outline.",
    "Mobject.set_color_by_gradient": "Colour the parts of a group from one colour to the next.",
    "Mobject.stretch": "Scale along one axis: 0 is x, 1 is y.",
    "Mobject.replace": "Scale and move to where another mobject is.",
    "Mobject.surround": "Scale and move around another mobject.",
    "Mobject.generate_target": "Make the copy `mobject.target`, which can be changed before "
    "`MoveToTarget(mobject)`.",
    "Mobject.fade": "Make more transparent: 1 is invisible.",
    "Mobject.apply_function": "Move every point to what a function returns for it.",
    "Mobject.apply_matrix": "Multiply every point by a matrix.",
    "Mobject.point_from_proportion": "The point at a part of the outline, from 0 to 1.",
    "Mobject.reverse_points": "Turn the direction of the outline.",
    "VMobject.set_stroke": "Set colour, width and opacity of the outline.",
    "VMobject.set_opacity": "Set the opacity of fill and outline.",
    "VMobject.set_style": "Set fill and outline at once.",
    "VMobject.set_points_smoothly": "Take a smooth curve through points as the outline.",
    "VMobject.make_smooth": "Round the corners of the outline.",
    "VMobject.make_jagged": "Make the curves of the outline straight.",
    "VMobject.set_background_stroke": "Set an outline behind the mobject, which keeps text readable.",
    "VMobject.close_path": "Draw a line to where the outline begins.",
    "Scene.camera": "What the scene is filmed with: `self.camera.background_color = color`.",
    "CoordinateSystem.get_axis_labels": "Labels of both axes: `axes.get_axis_labels(x_label='x', "
    "y_label='y')`.",
}
