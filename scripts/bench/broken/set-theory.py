from manim import *


class DeMorgan(Scene):
    def construct(self):
        laws = VGroup(
            MathTex(r"\overline{A \cup B} = \overline{A} \cap \overline{B}"),
            MathTex(r"\overline{A \cap B} = \overline{A} \cupp \overline{B}"),
        ).arrange(DOWN, buff=1)
        self.play(Write(laws[0]))
        self.play(Write(laws[1]))
        box = SurroundingRectangle(laws, corner=0.2, color=GREEN)
        self.play(Create(box))
        self.play(laws.animate.set_colour_by_gradient(BLUE, GREEN))
        self.wait()
