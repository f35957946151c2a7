from manim import *


class MatrixInverse(Scene):
    def construct(self):
        a = np.array([[2, 1], [1, 1]])
        inverse = np.linalg.inverse(a)
        left = IntegerMatrix(a)
        right = DecimalMatrix(inverse, element_to_mobject_config={"num_decimal_places": 0})
        identity = IntegerMatrix([[1, 0], [0, 1]])
        row = VGroup(left, right, MathTex("="), identity).arrange(RIGHT)
        self.play(Write(left), Write(right))
        self.play(Write(row[2]), Write(row[4]))
        self.play(identity.get_entries().animate.set_color(YELLOW))
        name = MathTex("A A^{-1} = I_{2}").to_edge(DOWN)
        self.play(Write(name))
        self.wait()
