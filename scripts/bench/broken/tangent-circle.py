from manim import *


class TangentCircle(Scene):
    def construct(self):
        circle = Circle(radius=2, color=BLUE)
        point = circle.point_at_angle(PI / 4)
        tangent = TangentLine(circle, alpha=1 / 8, length=4, color=YELLOW)
        radius = Line(circle.center, point)
        self.play(Create(circle))
        self.play(Create(radius), Create(tangent))
        corner = RightAngle(radius, tangent, length=0.3, quadrant=(-1, 1))
        self.play(Create(corner))
        label = Tex("radius $\\perp$ tangent").to_edge(DOWN)
            self.play(Write(label))
        self.wait()
