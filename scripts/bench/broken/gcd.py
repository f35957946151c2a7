from manim import *
from math import gcd


class EuclidAlgorithm(Scene):
    def construct(self):
        a, b = 48, 18
        lines = VGroup()
        while b:
            lines.add(MathTex(f"{a} = {a // b} \\cdot {b} + {a % b}"))
            a, b = b, a % b
        lines.arrange(DOWN, buff=0.5)
        for line in lines:
            self.play(Write(line), run_time=0.6)
        answer = MathTex(rf"\gcd(48, 18) = {result}").next_to(lines, DOWN, buff=0.8)
        self.play(Write(answer))
        self.play(answer.animate.set_color(GREEN_F))
        self.wait()
