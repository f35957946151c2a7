# Pythagoras, without a word
from manim import *


class Pythagoras(Scene):
    def construct(self):
        a, b = 1.8, 3.0
        colors = [BLUE, TEAL, GREEN, PURPLE]
        frame = Square(a + b, color=WHITE)
        corner = frame.get_corner(DL)

        def triangle(points, color):
            return Polygon(*[corner + np.array([x, y, 0]) for x, y in points], color=color, fill_opacity=0.7)

        s = a + b
        tilted = VGroup(*[
            triangle(points, color)
            for points, color in zip(
                [
                    [(0, 0), (a, 0), (0, b)],
                    [(a, 0), (s, 0), (s, a)],
                    [(s, a), (s, s), (b, s)],
                    [(b, s), (0, s), (0, b)],
                ],
                colors,
            )
        ])
        packed = VGroup(*[
            triangle(points, color)
            for points, color in zip(
                [
                    [(0, a), (a, a), (0, s)],
                    [(a, 0), (s, 0), (s, a)],
                    [(s, a), (a, a), (a, 0)],
                    [(a, a), (a, s), (0, s)],
                ],
                colors,
            )
        ])
        c2 = MathTex("c^2", font_size=64, color=YELLOW)
        a2 = MathTex("a^2", font_size=48, color=YELLOW).move_to(corner + np.array([a / 2, a / 2, 0]))
        b2 = MathTex("b^2", font_size=64, color=YELLOW).move_to(corner + np.array([a + b / 2, a + b / 2, 0]))

        self.play(Create(frame), LaggedStart(*[FadeIn(one, scale=0.6) for one in tilted], lag_ratio=0.2))
        self.play(Write(c2), subcaption="What the triangles leave free is c squared.")
        self.wait(0.4)
        self.play(FadeOut(c2), Transform(tilted, packed), run_time=1.6)
        self.play(Write(a2), Write(b2), subcaption="And now it is a squared plus b squared.")
        self.wait(0.8)
