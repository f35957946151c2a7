from manim import *


class EulerFormula(Scene):
    def construct(self):
        formula = MathTex("e^{i\theta} = \cos\theta + i \sin\theta")
        formula.scale(1.5)
        self.play(Write(formula))
        plane = ComplexPlane(x_range=[-2, 2], y_range=[-2, 2]).scale(0.8)
        plane.to_edge(DOWN)
        self.play(formula.animate.to_edge(UP), FadeIn(plane)
        circle = Circle(radius=plane.x_axis.get_unit_size()).move_to(plane.n2p(0))
        dot = Dot(plane.n2p(1), color=YELLOW)
        self.play(Create(circle), FadeIn(dot))
        self.play(MoveAlongPath(dot, circle), run_time=3, rate_func=linear)
        self.wait()
