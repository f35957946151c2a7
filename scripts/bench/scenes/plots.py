"""Scenes with axes and planes: trackers, areas, maps and fields."""

from manim import *


class Tangent(Scene):
    """A tangent that follows a tracker, with numbers that change in each frame."""

    def construct(self):
        axes = Axes(
            x_range=(-3, 3), y_range=(-2, 4), x_length=8, y_length=6, axis_config={"include_numbers": True}
        )
        curve = axes.plot(lambda x: x**3 / 3 - x + 1, color=BLUE)
        x = ValueTracker(-2.2)
        slope = lambda: x.get_value() ** 2 - 1
        point = lambda: axes.i2gp(x.get_value(), curve)
        dot = always_redraw(lambda: Dot(point(), color=YELLOW))
        line = always_redraw(
            lambda: Line(2 * LEFT, 2 * RIGHT, color=RED).rotate(np.arctan(slope())).move_to(point())
        )
        number = DecimalNumber(0, num_decimal_places=2).to_corner(UR)
        number.add_updater(lambda mobject: mobject.set_value(slope()))
        label = MathTex("f'(x) =").next_to(number, LEFT)
        label.add_updater(lambda mobject: mobject.next_to(number, LEFT))
        self.play(Create(axes), run_time=1)
        self.play(Create(curve), FadeIn(label, number))
        self.add(line, dot)
        self.play(x.animate.set_value(2.2), run_time=3, rate_func=linear)
        self.play(x.animate.set_value(0), run_time=1.5)


class RiemannSums(Scene):
    """An area, approximated by more and more rectangles."""

    def construct(self):
        axes = Axes(x_range=(0, 5), y_range=(0, 6), tips=False, axis_config={"include_numbers": True})
        curve = axes.plot(lambda x: 4 + np.sin(1.5 * x) - 0.1 * x**2, color=YELLOW)
        labels = axes.get_axis_labels("x", "f(x)")
        self.play(Create(axes), Write(labels), Create(curve))
        rectangles = axes.get_riemann_rectangles(curve, x_range=(0.5, 4.5), dx=1, color=(BLUE, GREEN))
        self.play(Create(rectangles))
        for dx in (0.5, 0.25, 0.1):
            finer = axes.get_riemann_rectangles(curve, x_range=(0.5, 4.5), dx=dx, color=(BLUE, GREEN))
            self.play(Transform(rectangles, finer), run_time=0.8)
            self.wait(0.2)
        area = axes.get_area(curve, x_range=(0.5, 4.5), color=(BLUE, GREEN))
        formula = MathTex(r"\int_{0.5}^{4.5} f(x) \, dx").to_edge(UP)
        self.play(FadeTransform(rectangles, area), Write(formula))
        self.wait(0.5)


class Epicycles(Scene):
    """Rotating arrows that draw a curve: everything moves in every frame."""

    def construct(self):
        time = ValueTracker(0)
        terms = [(1.5, 1, 0), (0.7, -2, 1), (0.4, 3, 2), (0.25, -5, 0.5), (0.15, 8, 1.5), (0.1, -11, 0)]

        def ends():
            points = [2 * LEFT]
            for radius, speed, phase in terms:
                angle = speed * time.get_value() + phase
                points.append(points[-1] + radius * np.array([np.cos(angle), np.sin(angle), 0]))
            return points

        def picture():
            points = ends()
            group = VGroup()
            for start, end, (radius, *_) in zip(points, points[1:], terms, strict=False):
                group.add(Circle(radius, color=BLUE_D, stroke_width=1.5).move_to(start))
                group.add(Line(start, end, color=WHITE, stroke_width=3))
            return group

        arms = always_redraw(picture)
        trace = TracedPath(lambda: ends()[-1], stroke_color=YELLOW, stroke_width=4)
        self.add(arms, trace)
        self.play(time.animate.set_value(TAU), run_time=5, rate_func=linear)


class ComplexMap(Scene):
    """A plane whose lines are bent by a complex function."""

    def construct(self):
        plane = ComplexPlane(x_range=(-4, 4), y_range=(-3, 3), faded_line_ratio=1).add_coordinates()
        name = MathTex(r"z \mapsto \frac{z^2}{3}").to_corner(UL).add_background_rectangle()
        self.play(Create(plane, run_time=1.5, lag_ratio=0.05), Write(name))
        moving = plane.copy().prepare_for_nonlinear_transform()
        plane.fade(0.7)
        self.add(moving, name)
        self.play(moving.animate.apply_complex_function(lambda z: z**2 / 3), run_time=2.5)
        self.wait(0.3)
        self.play(FadeOut(moving), plane.animate.fade(-0.5))


class LinearMap(LinearTransformationScene):
    """A matrix that moves plane, basis and vectors."""

    def __init__(self, **kwargs):
        super().__init__(show_coordinates=False, leave_ghost_vectors=True, **kwargs)

    def construct(self):
        matrix = [[1, 1], [-0.5, 1.5]]
        shown = Matrix(matrix).scale(0.8).to_corner(UL).add_background_rectangle()
        self.add_foreground_mobject(shown)
        self.add_vector([2, 1], color=YELLOW)
        self.add_transformable_mobject(self.get_unit_square())
        self.apply_matrix(matrix, run_time=2)
        self.wait(0.3)
        self.apply_inverse(matrix, run_time=1.5)


class Field(Scene):
    """Arrows, and lines that flow along them."""

    def construct(self):
        swirl = lambda p: np.array([np.sin(p[1] / 1.5), np.cos(p[0] / 1.5), 0])
        arrows = ArrowVectorField(swirl, x_range=(-6, 6, 1), y_range=(-3, 3, 1))
        self.play(*(GrowArrow(arrow) for arrow in arrows), run_time=1)
        streams = StreamLines(
            swirl, x_range=(-6, 6, 1.2), y_range=(-3, 3, 1.2), stroke_width=2, max_anchors_per_line=20
        )
        self.play(arrows.animate.set_opacity(0.25))
        self.add(streams)
        streams.start_animation(warm_up=False, flow_speed=1.5)
        boat = Dot(4 * LEFT + UP, color=YELLOW).add_updater(arrows.get_nudge_updater())
        self.add(boat)
        self.wait(2)


class BarCharts(Scene):
    """Bars with numbers and a histogram that grows."""

    def construct(self):
        chart = BarChart([3, 7, 4, 9, 5], bar_names=list("ABCDE"), y_range=(0, 10, 2), y_length=5, x_length=8)
        numbers = chart.get_bar_labels(font_size=36)
        self.play(Create(chart), FadeIn(numbers))
        self.play(chart.animate.change_bar_values([8, 2, 6, 5, 9]), FadeOut(numbers), run_time=1)
        self.play(FadeIn(chart.get_bar_labels(font_size=36)))
        generator = np.random.default_rng(8)
        counts = np.zeros(9)
        self.clear()
        histogram = BarChart(list(counts), y_range=(0, 20, 5), y_length=5, x_length=9)
        self.add(histogram)
        for _ in range(6):
            for place in generator.binomial(8, 0.5, 12):
                counts[place] += 1
            self.play(histogram.animate.change_bar_values(list(np.minimum(counts, 20))), run_time=0.3)


class Following(MovingCameraScene):
    """A camera that follows a point along a curve, closely."""

    def construct(self):
        axes = Axes(x_range=(-1, 10), y_range=(-1, 10), x_length=13, y_length=7)
        curve = axes.plot(lambda x: 3 * np.sin(x) + x / 2 + 2, color=BLUE, x_range=(0, 9))
        dot = Dot(axes.i2gp(0, curve), color=ORANGE)
        self.add(axes, curve, dot)
        self.camera.frame.save_state()
        self.play(self.camera.frame.animate.scale(0.35).move_to(dot))
        self.camera.frame.add_updater(lambda frame: frame.move_to(dot))
        self.play(MoveAlongPath(dot, curve), run_time=3, rate_func=linear)
        self.camera.frame.clear_updaters()
        self.play(Restore(self.camera.frame))


class Magnified(ZoomedScene):
    """A magnifying glass over a plot."""

    def __init__(self, **kwargs):
        super().__init__(zoom_factor=0.25, zoomed_display_height=2.5, zoomed_display_width=4, **kwargs)

    def construct(self):
        axes = Axes(x_range=(0.05, 1, 0.2), y_range=(-1, 1, 0.5), x_length=11, y_length=6)
        curve = axes.plot(lambda x: np.sin(1 / x) * 0.9, x_range=(0.05, 1, 0.002), color=TEAL)
        self.play(Create(axes), Create(curve))
        self.zoomed_camera.frame.move_to(axes.c2p(0.6, 0.5))
        self.activate_zooming(animate=False)
        self.play(self.zoomed_camera.frame.animate.move_to(axes.c2p(0.12, 0)), run_time=2)
        self.play(self.zoomed_camera.frame.animate.scale(0.6), run_time=1)
