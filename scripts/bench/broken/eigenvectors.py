from manim import *


class Eigenvectors(Scene):
    def construct(self):
        matrix = [[2, 1], [1, 2]]
        vector = Vector([1, 1], color=YELLOW)
        other = Vector([1, -1], color=PINK)
        self.add_vector(vector)
        self.add_vector(other)
        self.apply_matrix(matrix)
        self.wait()
