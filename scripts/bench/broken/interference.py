from manim import *


class Interference(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 10], y_range=[-2, 2], x_length=10, y_length=4)
        one = axes.plot(lambda x: np.sin(x), color=BLUE)
        two = axes.plot(lambda x: np.sin(1.2 * x), color=GREEN)
        total = axes.plot(lambda x: np.sin(x) + np.sin(1.2 * x), color=YELLOW)
        self.play(Create(axes))
        self.play(Create(one), Create(two), run_time=2)
        self.play(TransformFromCopy(VGroup(one, two) total))
        legend = VGroup(
            Text("wave 1", color=BLUE, font_size=24),
            Text("wave 2", color=GREEN, font_size=24),
            Text("sum", color=YELLOW, font_size=24),
        ).arrange(DOWN, align_edge=LEFT)
        legend.to_corner(UR)
        self.play(FadeIn(legend))
        self.wait()
