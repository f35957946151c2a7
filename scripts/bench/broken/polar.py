from manim import *


class PolarRose(Scene):
    def construct(self):
        plane = PolarPlane(radius_max=3, size=6)
        plane.add_coordinates
        rose = plane.plot_polar_graph(lambda theta: 2 * np.sin(3 * theta), [0, PI], color=ROSE)
        self.play(Create(plane))
        self.play(Create(rose), run_time=3)
        label = MathTex(r"r = 2\sin(3\theta)").to_corner(UL)
        self.play(Write(label))
        self.play(rose.animate.rotate_about_origin(PI / 6))
        self.wait()
