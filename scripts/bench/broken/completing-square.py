from manim import *


class CompletingSquare(Scene):
    def construct(self):
        steps = VGroup(
            MathTex("x^2 + 6x + 5 = 0"),
            MathTex("(x + 3)^2 - 4 = 0"),
            MathTex("x = -3 \\pm 2"),
        )
        steps.arrange(DOWN, buff=0.7)
        self.play(Write(steps[0]))
        for before, after in zip(steps, steps[1:]):
            self.play(ReplacementTransformFromCopy(before, after))
            self.wait(0.5)
        frame = SurroundingRectangle(steps[-1], color=YELLOW)
        self.play(ShowCreation(frame))
        self.play(steps.animate.to_edge(LEFT), FadeOut(frame))
        self.wait()
