"""Scenes for features that the examples in Manim's documentation do not cover."""

import random
import wave
from pathlib import Path

import numpy as np
from manim import *

config.seed = 11


class Shapes(Scene):
    def construct(self):
        square, circle = Square(fill_opacity=0.5), Circle(color=RED)
        self.play(Create(square))
        self.wait(0.5)
        self.play(Transform(square, circle), run_time=0.7)
        self.play(square.animate.shift(RIGHT), FadeIn(Triangle()))
        self.wait(0.05)


class Words(Scene):
    def construct(self):
        self.play(Write(Text("Words", font_size=72)))
        self.play(FadeOut(*self.mobjects))


class Graph(Scene):
    def construct(self):
        tracker = ValueTracker(1)
        self.add(NumberPlane())
        self.add(always_redraw(lambda: FunctionGraph(lambda x: np.sin(tracker.get_value() * x))))
        self.play(tracker.animate.set_value(3), run_time=1.5)


class Chance(Scene):
    def construct(self):
        dot = Dot()
        dot.add_updater(lambda m, dt: m.shift(dt * np.array([random.gauss(0, 5), np.random.normal(), 0])))
        self.add(dot, TracedPath(dot.get_center))
        self.wait(1)
        self.wait_until(lambda: self.time > 1.4, max_time=3)


class Solid(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=70 * DEGREES, theta=30 * DEGREES)
        self.add(Cube(), ThreeDAxes())
        self.begin_ambient_camera_rotation(rate=1)
        self.wait(0.5)


class Moving(MovingCameraScene):
    def construct(self):
        self.add(Square(), Dot())
        self.play(self.camera.frame.animate.scale(0.5).shift(UP))


class Zoomed(ZoomedScene):
    def construct(self):
        self.add(Dot(), NumberPlane())
        self.activate_zooming(animate=True)
        self.wait(0.2)


class Painted(Scene):
    def __init__(self):
        super().__init__()
        self.camera.background_color = "#123456"

    def construct(self):
        self.add(
            ImageMobject(np.uint8([[[250, 0, 0], [0, 90, 250]]])).scale(40), PMobject().add_points([UP, DOWN])
        )
        self.next_section(skip_animations=True)
        self.play(Create(Square()))
        self.next_section()
        self.play(Create(Circle(color=TEAL, background_stroke_width=9)))


class Sections(Scene):
    def setup(self):
        self.add_foreground_mobject(Dot(color=YELLOW))

    def construct(self):
        config.background_color = GREEN
        config.frame_rate = config.frame_rate  # unchanged
        self.play(LaggedStart(*[GrowFromCenter(Dot(x * RIGHT)) for x in range(-3, 4)]))
        self.play(Succession(FadeIn(Square()), Rotate(self.mobjects[-1])), Wait(2.5))


class LongText(Scene):
    def construct(self):
        lines = [f"Line {n}: “fi”, naïve, x² ≤ ½ — {'and so on, ' * 4}" for n in range(12)]
        page = Paragraph(*lines, line_spacing=0.8).scale_to_fit_width(13)
        self.play(Write(page), run_time=1)
        markup = MarkupText('<b>bold</b> <i>it</i> <span foreground="#ff8800">hue</span> <sub>sub</sub>')
        self.play(FadeOut(page, shift=UP), FadeIn(markup))
        self.play(markup.animate.set_color_by_gradient(RED, BLUE), run_time=0.4)


class Scripts(Scene):
    def construct(self):
        words = [
            "数学 一二三",
            "こんにちは",
            "한국어",
            "العربية",
            "עברית",
            "हिन्दी",
            "ไทย",
            "Ελλ Язык",
            "😀 🚀",
        ]
        texts = VGroup(*[Text(word, font_size=36) for word in words]).arrange_in_grid(3)
        self.play(LaggedStart(*[FadeIn(text) for text in texts], lag_ratio=0.1))
        self.play(Transform(texts[0], Text("Latin Modern", font="Latin Modern Roman")))


class Drawing(Scene):
    def construct(self):
        Path("drawing.svg").write_text(
            """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">
            <g transform="rotate(20 50 50)" stroke="#0af" stroke-width="3" fill="gold" fill-opacity="0.5">
            <path d="M10 50 C 20 0, 80 0, 90 50 S 60 100 50 60 Q 30 90 10 50 Z"/>
            <circle cx="50" cy="40" r="12"/><rect x="5" y="80" width="90" height="9" rx="4"/>
            <path d="M20 20 A 15 9 30 1 0 60 30" fill="none"/></g></svg>"""
        )
        drawing = SVGMobject("drawing.svg", height=5)
        self.play(DrawBorderThenFill(drawing))
        self.play(drawing.animate.apply_function(lambda p: p + 0.3 * np.sin(p[1]) * RIGHT))


class Pictures(Scene):
    def construct(self):
        ramp = np.linspace(0, 255, 64, dtype=np.uint8)
        gray = ImageMobject(np.tile(ramp, (48, 1))).set_resampling_algorithm(RESAMPLING_ALGORITHMS["nearest"])
        rgba = ImageMobject(np.dstack([np.meshgrid(ramp, ramp[::2])[0]] * 4)).scale(3)
        group = Group(gray, rgba).arrange(RIGHT)
        self.play(FadeIn(group))
        self.play(Rotate(gray, PI / 5), rgba.animate.set_opacity(0.3).shift(DOWN))


class Heard(Scene):
    def construct(self):
        for name, rate in (("low.wav", 22_050), ("high.wav", 44_100)):
            with wave.open(name, "wb") as file:
                file.setnchannels(2)
                file.setsampwidth(2)
                file.setframerate(rate)
                tone = np.sin(np.arange(rate) * 0.06) * 9000
                file.writeframes(np.repeat(tone.astype("<i2"), 2).tobytes())
        self.add_sound("low.wav")
        self.add_subcaption("A tone & a <square>", duration=0.7)
        self.play(Create(Square()), run_time=0.6)
        self.add_sound("high.wav", time_offset=0.25, gain=-6)
        self.play(FadeIn(Dot()), subcaption="Another one\non two lines", subcaption_offset=0.2)
        self.wait(0.5)


class Fields(Scene):
    def construct(self):
        def swirl(point):
            return np.array([-point[1], point[0], 0]) / 3

        arrows = ArrowVectorField(swirl, x_range=[-4, 4, 1], y_range=[-3, 3, 1])
        streams = StreamLines(swirl, x_range=[-4, 4, 1], y_range=[-3, 3, 1], virtual_time=1, padding=1)
        self.play(Create(arrows), run_time=0.5)
        self.add(streams)
        streams.start_animation(warm_up=True, flow_speed=1.5)
        dot = Dot(2 * RIGHT, color=RED)
        dot.add_updater(arrows.get_nudge_updater())
        self.add(dot)
        self.wait(1)


class Numbers(Scene):
    def construct(self):
        tracker = ValueTracker(-1.5)
        number = DecimalNumber(num_decimal_places=2, include_sign=True, group_with_commas=True)
        number.add_updater(lambda d: d.set_value(1000 * tracker.get_value()))
        label = Variable(0.5, MathTex("x"), num_decimal_places=1)
        self.add(VGroup(number, Integer(-7), label).arrange(DOWN))
        self.play(tracker.animate.set_value(2), label.tracker.animate.set_value(4), run_time=1)
        self.play(ChangeDecimalToValue(number.clear_updaters(), 3), run_time=0.4)


class Formulas(Scene):
    def construct(self):
        first = MathTex("a^2", "+", "b^2", "=", "c^2")
        second = MathTex("a^2", "=", "c^2", "-", "b^2", substrings_to_isolate="c")
        text = Tex(
            r"Let $\varepsilon > 0$ and \emph{thus} \textbf{so}:", tex_environment="flushleft"
        ).to_edge(UP)
        self.play(Write(text), FadeIn(first), run_time=0.7)
        self.play(TransformMatchingTex(first, second))
        self.play(Circumscribe(second), Indicate(text), run_time=0.5)


class Tables(Scene):
    def construct(self):
        table = Table([["1", "two"], ["3", "4"]], col_labels=[Text("a"), Text("b")], include_outer_lines=True)
        table.add_highlighted_cell((2, 2), color=GREEN)
        matrix = Matrix([[1, "x"], [r"\pi", 0]]).scale(0.8)
        self.add(VGroup(table.scale(0.6), matrix).arrange(RIGHT))
        self.play(table.animate.set_column_colors(BLUE, RED), matrix.animate.set_opacity(0.4))


class Sources(Scene):
    def construct(self):
        source = 'def f(x: int) -> str:\n    """Doc."""\n    return f"{x:>3}"  # done\n'
        code = Code(code_string=source, language="python", background="window", add_line_numbers=True)
        self.play(FadeIn(code))
        self.play(code.animate.scale(0.7).to_corner(UL), run_time=0.5)


class Typeset(Scene):
    def construct(self):
        formula = MathTypst("integral_0^oo e^(-x^2) dif x = sqrt(pi) / 2")
        self.play(Write(formula))
        self.play(Transform(formula, Typst("*Strong*, _light_ and `code`")))


class Charted(Scene):
    def construct(self):
        chart = BarChart([1, 3, -2], bar_names=["x", "y", "z"], y_range=[-3, 4, 1], y_length=4)
        self.add(chart)
        self.play(chart.animate.change_bar_values([3, 1, 2]), run_time=0.6)
        axes = Axes([0, 4], [0, 10, 5], tips=False, axis_config={"include_numbers": True})
        graph = axes.plot(lambda x: x**2 / 2, color=YELLOW)
        area = axes.get_area(graph, x_range=(1, 3), color=[BLUE, GREEN])
        self.play(FadeOut(chart), Create(axes), run_time=0.6)
        self.play(Create(graph), FadeIn(area, axes.get_riemann_rectangles(graph, [0, 4], dx=0.5)))


class Fixed(ThreeDScene):
    def construct(self):
        axes = ThreeDAxes()
        title = Text("fixed").to_corner(UL)
        facing = Text("facing").shift(2 * UP)
        self.add_fixed_in_frame_mobjects(title)
        self.add_fixed_orientation_mobjects(facing)
        wave = Surface(lambda u, v: axes.c2p(u, v, np.sin(u) * np.cos(v)), [-2, 2], [-2, 2], resolution=8)
        self.set_camera_orientation(phi=60 * DEGREES, theta=-45 * DEGREES, zoom=0.8)
        self.play(Create(axes), FadeIn(wave), run_time=0.5)
        self.move_camera(phi=30 * DEGREES, theta=0, zoom=1.2, frame_center=UP, run_time=0.7)
        self.begin_3dillusion_camera_rotation(rate=2)
        self.play(Rotate(wave, PI / 4), run_time=0.4)


class Bodies(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=60 * DEGREES, theta=30 * DEGREES)
        axes = ThreeDAxes()
        solids = VGroup(
            Cube(1),
            Torus(0.8, 0.3, resolution=6).shift(3 * RIGHT),
            Cone(resolution=6).shift(3 * LEFT),
            Cylinder(1, 1, resolution=6).shift(3 * UP).set_fill(RED, 0.6),
            Arrow3D(ORIGIN, 2 * OUT, resolution=4),
        )
        title = Text("Bodies").to_corner(UL)
        self.add(axes)
        self.add_fixed_in_frame_mobjects(title)
        self.play(Create(solids), Write(title), run_time=0.6)
        self.move_camera(phi=30 * DEGREES, theta=0, zoom=1.2, run_time=0.3)
        self.play(Rotate(solids, PI / 3), solids[0].animate.set_color(GREEN), run_time=0.3)


class Linear(LinearTransformationScene):
    def construct(self):
        self.add_vector([1, 2])
        self.apply_matrix([[1, 1], [0, 1]], run_time=0.7)


class Timed(Scene):
    def construct(self):
        self.elapsed = 0.0

        def count(dt):
            self.elapsed += dt

        self.add_updater(count)
        square = Square().add_updater(lambda m, dt: m.rotate(dt * self.elapsed))
        self.add(square)
        self.wait(0.7)
        square.suspend_updating()
        self.wait(0.4)
        square.resume_updating()
        self.wait(0.5, frozen_frame=False)
        self.play(ChangeSpeed(square.animate.shift(RIGHT), {0.3: 0.2, 1: 2}), run_time=0.8)
        self.pause(0.01)


class Layered(Scene):
    def construct(self):
        disc = Circle(1.5, color=BLUE, fill_opacity=1).set_sheen(0.5, UR)
        front = Square(1, color=WHITE, fill_opacity=0.5).set_z_index(3)
        self.add(front, disc, Line(LEFT, RIGHT, z_index=-1).set_stroke(RED, 20))
        self.play(disc.animate.shift(RIGHT), front.animate.set_z_index(-2), run_time=0.6)
        self.bring_to_front(disc)
        self.play(ShowPassingFlash(Circle(2)), Union(disc, front).animate.set_color(PINK), run_time=0.6)
        self.play(ApplyWave(front), Flash(disc, color=TEAL), Broadcast(Star()), run_time=0.6)
        self.remove(disc)
        self.wait(0.2)


class Watched(Scene):
    """Reads the pixels of its camera: between plays, and from then on in each frame."""

    def construct(self):
        square = Square(fill_opacity=1)
        self.play(square.animate.shift(RIGHT), run_time=0.4)
        frame = self.renderer.get_frame()
        self.add(Dot(frame.mean() * UP / 50))
        self.play(square.animate.scale(1.5), run_time=0.4)
        kept = self.camera.pixel_array[:, self.camera.pixel_width // 2 :]
        dot = Dot(color=RED).add_updater(lambda dot: dot.move_to(kept.mean() * UP / 50))
        self.add(dot)
        self.play(square.animate.shift(LEFT), run_time=0.6)
        self.add(ImageMobject(np.array(self.camera.get_image())).scale(0.3).to_corner(UL))
        self.play(square.animate.rotate(0.3), run_time=0.4)


class Copied(Scene):
    """Keeps a copy of its camera, which shares the pixels."""

    def construct(self):
        square = Square(fill_opacity=1)
        self.play(Create(square), run_time=0.4)
        other = self.camera.__deepcopy__({})
        bar = Line().add_updater(lambda line: line.set_length(1 + other.pixel_array.mean() / 20))
        self.add(bar)
        self.play(square.animate.shift(RIGHT), run_time=0.6)


class Smooth(Scene):
    """Changes how Cairo draws, and the array that the camera draws on."""

    def construct(self):
        square = Square(fill_opacity=0.7).rotate(0.2)
        self.play(square.animate.shift(RIGHT), run_time=0.3)
        (context,) = self.camera.pixel_array_to_cairo_context.values()
        context.set_antialias(1)
        self.play(square.animate.rotate(1), run_time=0.3)
        context.set_antialias(0)
        self.play(square.animate.rotate(1), run_time=0.3)
        self.camera.pixel_array = np.zeros_like(self.camera.background)
        self.play(square.animate.rotate(1), run_time=0.3)


class Mutable(Scene):
    """Changes arrays in place, some of which frames before have shown."""

    def construct(self):
        shapes = VGroup(Square(), Circle(fill_opacity=0.5), Star()).arrange()
        shapes[1].set_color_by_gradient(RED, GREEN, BLUE)
        self.camera.background[:20] = 90

        def change(group, dt):
            for shape in group:
                shape.points[: len(shape.points) // 2] += dt
                shape.stroke_rgbas[:, 0] = abs(np.sin(self.time))
                shape.fill_rgbas *= 0.97
            self.camera.background[-20:] += np.uint8(30)

        shapes.add_updater(change)
        self.add(shapes)
        self.wait(1)
        self.play(Create(Line(LEFT, RIGHT)), run_time=0.3)


class Cameras(MovingCameraScene):
    """Zooms while mobjects in front and behind move, with a background of its own."""

    def construct(self):
        self.camera.background_color = "#102030"
        self.add(NumberPlane(), Dot())
        self.play(self.camera.frame.animate.scale(0.4).move_to(2 * RIGHT), Rotate(Square()), run_time=0.6)
        self.camera.frame.save_state()
        self.play(self.camera.auto_zoom([self.mobjects[1]], margin=1), run_time=0.4)
        self.play(Restore(self.camera.frame), Flash(ORIGIN), run_time=0.4)
        self.wait(0.2)


class Traced(ThreeDScene):
    """Moves the camera by chance around what leaves a trace, with labels that face it."""

    def construct(self):
        self.set_camera_orientation(phi=1, theta=0.3)
        axes, dot = ThreeDAxes(), Dot3D(RIGHT, resolution=(4, 4))
        label = Text("here", font_size=24)
        self.add_fixed_orientation_mobjects(label)
        dot.add_updater(lambda dot, dt: dot.shift(dt * np.array([random.gauss(0, 4), np.random.normal(), 1])))
        label.add_updater(lambda label: label.next_to(dot, UP))
        self.add(axes, dot, label, TracedPath(dot.get_center, dissipating_time=0.3))
        self.camera.theta_tracker.add_updater(
            lambda tracker, dt: tracker.increment_value(dt * random.random())
        )
        self.add(self.camera.theta_tracker)
        self.wait_until(lambda: self.time > 0.8, max_time=3)
        self.move_camera(zoom=0.7, run_time=0.3)


class Flowing(Scene):
    """Moves points by functions, counts in a text, and shows and hides many mobjects one by one."""

    def construct(self):
        text = Text("Waves over letters").to_edge(UP)
        self.play(ApplyWave(text, ripples=2, direction=UR), run_time=0.6)
        grid = NumberPlane(x_range=[-3, 3], y_range=[-2, 2])
        self.play(Homotopy(lambda x, y, z, t: (x, y + 0.2 * t * np.sin(3 * x), z), grid), run_time=0.4)
        self.play(ComplexHomotopy(lambda c, t: c * np.exp(0.3j * t), grid), run_time=0.4)
        self.play(PhaseFlow(lambda p: np.array([-p[1], p[0], 0.0]), grid, run_time=0.4))
        self.play(ApplyPointwiseFunction(lambda p: (p[0], p[1] ** 2, 0), grid), run_time=0.4)
        value = ValueTracker(1)
        count = always_redraw(
            lambda: Text(f"Sum: {value.get_value():.2f} €", t2c={"Sum": BLUE}).next_to(grid, DOWN)
        )
        self.add(count)
        self.play(value.animate.set_value(12.5), FadeOut(grid), run_time=0.6)
        dots = [Dot(0.4 * (x * RIGHT + y * UP), color=YELLOW) for x in range(-8, 9) for y in range(-4, 4)]
        self.add(VGroup(*dots[:3]))
        shown = LaggedStart(*[AnimationGroup(FadeIn(dot, scale=2)) for dot in dots], lag_ratio=0.01)
        self.play(shown, run_time=0.6)
        self.play(*[FadeOut(dot, shift=UP) for dot in dots[::2]], *[Indicate(dot) for dot in dots[1::8]])
        self.remove(*dots[1:9])
        self.wait(0.2)
