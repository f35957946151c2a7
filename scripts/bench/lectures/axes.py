"""The derivative as a slope: axes, trackers, and lines and numbers that are redrawn beside formulas."""

from manim import *

ACCENT = YELLOW
# colour, instead: ACCENT = ORANGE


class Slopes(Scene):
    def construct(self):
        title = Text("What is a derivative?", font_size=44)
        self.play(Write(title))
        # early, also: self.play(Circumscribe(title, color=ACCENT))
        self.play(title.animate.scale(0.7).to_corner(UL))
        axes = Axes(x_range=(-1, 4), y_range=(-1, 5), x_length=7, y_length=5.4).to_edge(DOWN, buff=0.3)
        labels = axes.get_axis_labels(x_label="x", y_label="f(x)")
        self.play(Create(axes, lag_ratio=0.1), run_time=1.5)
        self.play(FadeIn(labels))
        graph = axes.plot(self.height, x_range=(-0.8, 3.9), color=BLUE)
        self.play(Create(graph), run_time=2)
        formula = MathTex(r"f(x) = \tfrac{1}{4} x^3 - x^2 + x + 2", font_size=36).to_corner(UR)
        self.play(Write(formula))
        self.wait(0.5)

        x, h = ValueTracker(0.2), ValueTracker(2.5)
        first = always_redraw(lambda: Dot(self.on(axes, x.get_value()), color=ACCENT))
        second = always_redraw(lambda: Dot(self.on(axes, x.get_value() + h.get_value()), color=ACCENT))
        secant = always_redraw(lambda: self.secant(axes, x.get_value(), h.get_value()))
        self.play(FadeIn(first), FadeIn(second))
        self.play(Create(secant))
        quotient = MathTex(r"\frac{f(x + h) - f(x)}{h}", font_size=40).next_to(
            formula, DOWN, buff=0.5, aligned_edge=RIGHT
        )
        self.play(Write(quotient))
        values = VGroup(
            *(
                VGroup(MathTex(f"{name} ="), DecimalNumber(0, num_decimal_places=3)).arrange(RIGHT)
                for name in ("x", "h", r"\Delta f / h")
            )
        )
        values.scale(0.7).arrange(DOWN, aligned_edge=LEFT).to_edge(LEFT).shift(0.5 * UP)
        values[0][1].add_updater(lambda number: number.set_value(x.get_value()))
        values[1][1].add_updater(lambda number: number.set_value(h.get_value()))
        values[2][1].add_updater(
            lambda number: number.set_value(self.slope(x.get_value(), h.get_value())).set_color(ACCENT)
        )
        self.play(FadeIn(values, shift=RIGHT))
        for width in (1.6, 0.9, 0.4, 0.1, 0.01):
            self.play(h.animate.set_value(width), run_time=1.2)
            self.wait(0.2)
        limit = MathTex(r"f'(x) = \lim_{h \to 0} \frac{f(x + h) - f(x)}{h}", font_size=40)
        limit.move_to(quotient, RIGHT)
        self.play(TransformMatchingShapes(quotient, limit))
        self.play(limit.animate.set_color(ACCENT))
        hint = Text("Now we move the point.", font_size=28).to_edge(DOWN)
        # text, instead: hint = Text("And now the point moves.", font_size=28).to_edge(DOWN)
        self.play(FadeIn(hint, shift=UP))
        for position in (0.67, 2.0, 3.4):
            self.play(x.animate.set_value(position), run_time=1.5)
            flat = abs(self.slope(position, 0.01)) < 0.05
            if flat:
                self.play(Flash(first, color=ACCENT), run_time=0.6)
            self.wait(0.3)
        self.play(FadeOut(hint))

        derivative = axes.plot(
            lambda at: 0.75 * at**2 - 2 * at + 1, x_range=(-0.4, 3.7), color=GREEN, use_smoothing=False
        )
        name = MathTex("f'", color=GREEN).next_to(axes.c2p(3.6, 3.6), RIGHT)
        trace = always_redraw(
            lambda: Dot(axes.c2p(x.get_value(), self.slope(x.get_value(), 0.001)), color=GREEN)
        )
        self.play(FadeIn(trace))
        self.play(x.animate.set_value(-0.4), run_time=1)
        self.play(x.animate.set_value(3.7), Create(derivative), run_time=4, rate_func=linear)
        self.play(Write(name))
        area = axes.get_area(derivative, x_range=(0.67, 2), color=(RED, RED), opacity=0.4)
        self.play(FadeIn(area))
        self.play(Indicate(area, color=RED))
        self.wait()
        self.play(FadeOut(VGroup(values, area, labels)), FadeOut(trace))
        self.play(x.animate.set_value(1.3), run_time=1.5)
        box = SurroundingRectangle(limit, color=ACCENT, buff=0.2)
        self.play(Create(box))
        # last, instead: self.play(FadeIn(box, scale=1.5))

    @staticmethod
    def height(x):
        return x**3 / 4 - x**2 + x + 2

    def slope(self, x, h):
        return (self.height(x + h) - self.height(x)) / h

    def on(self, axes, x):
        return axes.c2p(x, self.height(x))

    def secant(self, axes, x, h):
        line = Line(self.on(axes, x), self.on(axes, x + h), color=ACCENT)
        return line.scale(5 / max(line.get_length(), 1e-3))
