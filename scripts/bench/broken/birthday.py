from manim import *


class BirthdayParadox(Scene):
    def construct(self):
        def p(n):
            unique = 1.0
            for k in range(n):
                unique *= (365 - k) / 365
            return 1 - unique

        axes = Axes(x_range=[0, 60, 10], y_range=[0, 1, 0.25], x_length=9, y_length=4)
        axes.add_coordinates()
        points = [axes.c2p(n, p(n)) for n in range(0, 61, 2)]
        curve = VMobject(color=BLUE).set_points_smooth(points)
        self.play(Create(axes), Create(curve))
        half = Dot(axes.c2p(23, p(23)), color=RED)
        label = MathTex(r"n = 23", font_size=36.next_to(half, RIGHT)
        self.play(FadeIn(half), Write(label))
        self.wait()
