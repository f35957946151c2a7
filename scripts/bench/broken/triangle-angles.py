from manim import *


class TriangleAngles(Scene):
    def construct(self):
        a, b, c = LEFT * 3 + DOWN, RIGHT * 3 + DOWN, UP * 2
        triangle = Polygon(a, b, c, fill_colour=BLUE, fill_opacity=0.2)
        self.play(Create(triangle))
        alpha = Angle(Line(a, b), Line(a, c), radius=0.7)
        beta = Angle(Line(b, c), Line(b, a), radius=0.7)
        gamma = Angle(Line(c, a), Line(c, b), radius=0.7)
        self.play(Create(alpha), Create(beta), Create(gamma))
        names = VGroup(
            MathTex(r"\alpha").next_to(alpha, UR, buff=0.1),
            MathTex(r"\beta").next_to(beta, UL, buff=0.1),
            MathTex(r"\gamma").next_to(gamma, DOWN, buff=0.1),
        )
        self.play(Write(names))
        self.play(names.set_color, YELLOW)
        total = MathTex(r"\alpha + \beta + \gamma = 180^\circ").to_edge(UP)
        self.play(Write(total))
        self.wait()
