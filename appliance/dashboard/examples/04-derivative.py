# The slope under a moving point
from manim import *


class Derivative(Scene):
    def construct(self):
        axes = Axes(x_range=[-3.5, 3.5], y_range=[-2, 2], x_length=11, y_length=6, tips=False)
        axes.set_color(GREY)
        curve = axes.plot(lambda x: 1.5 * np.sin(x), color=BLUE, stroke_width=5)
        x = ValueTracker(-3)

        def tangent():
            at, slope = x.get_value(), 1.5 * np.cos(x.get_value())
            middle = axes.c2p(at, 1.5 * np.sin(at))
            direction = normalize(axes.c2p(at + 1, slope) - axes.c2p(at, 0))
            line = Line(middle - 1.8 * direction, middle + 1.8 * direction, color=YELLOW, stroke_width=4)
            label = DecimalNumber(slope, num_decimal_places=2, include_sign=True, font_size=36)
            return VGroup(line, Dot(middle, color=YELLOW), label.next_to(middle, UP, buff=0.7))

        slope = axes.plot(lambda x: 1.5 * np.cos(x), color=PINK, stroke_width=3)
        self.play(Create(axes), Create(curve), run_time=1.2)
        line = always_redraw(tangent)
        self.play(FadeIn(line))
        self.play(x.animate.set_value(3), Create(slope), run_time=4, rate_func=linear)
        self.wait(0.4)
