# What a matrix does to the plane
from manim import *


class Matrix2D(Scene):
    def construct(self):
        plane = NumberPlane(
            x_range=[-14, 14], y_range=[-10, 10],
            background_line_style={"stroke_color": BLUE_D, "stroke_opacity": 0.7},
        )
        still = NumberPlane(background_line_style={"stroke_color": GREY, "stroke_opacity": 0.25})
        i_hat = Vector([1, 0], color=GREEN)
        j_hat = Vector([0, 1], color=RED)
        square = Square(1, color=YELLOW, fill_opacity=0.35).move_to([0.5, 0.5, 0])
        matrix = np.array([[2, 1], [0.5, 1.5]])
        label = Matrix([["2", "1"], ["0.5", "1.5"]]).to_corner(UL).add_background_rectangle(buff=0.2)

        self.add(still)
        self.play(Create(plane, lag_ratio=0.02), run_time=1.2)
        self.play(GrowArrow(i_hat), GrowArrow(j_hat), FadeIn(square))
        self.play(FadeIn(label))
        self.play(
            plane.animate.apply_matrix(matrix),
            square.animate.apply_matrix(matrix, about_point=ORIGIN),
            i_hat.animate.put_start_and_end_on(ORIGIN, [2, 0.5, 0]),
            j_hat.animate.put_start_and_end_on(ORIGIN, [1, 1.5, 0]),
            run_time=2.5,
            subcaption="The columns say where the two arrows land.",
        )
        area = Text("area × 2.5", font_size=32, color=YELLOW).add_background_rectangle()
        self.play(Write(area.move_to([4, 1.2, 0])))
        self.wait(0.6)
