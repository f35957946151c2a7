from manim import *


class FreeFall(Scene):
    def construct(self):
        ball = Circle(radius=0.3, color=RED, fill_opacity=1).to_edge(UP)
        ground = Line(LEFT * 5, RIGHT * 5).to_edge(DOWN)
        self.add(ground, ball)
        time = ValueTracker(0)
        top = ball.get_center()
        ball.add_updater(lambda m: m.move_to(top + DOWN * 0.5 * 2 * time.value ** 2))
        self.play(time.animate.set_value(2.2), run_time=2.2, rate_func=linear)
        ball.clear_updater()
        formula = MathTex(r"s = \frac{1}{2} g t^2")
        formula.to_corner(UL)
        self.play(Write(formula))
        self.wait()
