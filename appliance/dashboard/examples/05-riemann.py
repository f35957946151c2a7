# Rectangles become an integral
from manim import *


class Riemann(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 5], y_range=[0, 5], x_length=9, y_length=5.6, tips=False)
        curve = axes.plot(lambda x: 0.18 * x**3 - 1.2 * x**2 + 2.3 * x + 1.2, color=WHITE)
        label = MathTex(r"\sum f(x_i)\,\Delta x", font_size=44).move_to([0, 2.4, 0])
        limit = MathTex(r"\int_0^5 f(x)\,dx", font_size=44).move_to(label)

        def rectangles(width):
            return axes.get_riemann_rectangles(
                curve, x_range=[0, 5], dx=width, color=[BLUE_D, TEAL], fill_opacity=0.75, stroke_width=0.5
            )

        area = rectangles(1)
        self.play(Create(axes), Create(curve), run_time=1)
        self.play(FadeIn(area, lag_ratio=0.2), Write(label))
        for width in [0.5, 0.25, 0.1, 0.05]:
            self.play(Transform(area, rectangles(width)), run_time=0.8)
        self.play(TransformMatchingShapes(label, limit))
        self.wait(0.5)
