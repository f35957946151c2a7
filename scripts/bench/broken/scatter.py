from manim import *


class Correlation(Scene):
    def construct(self):
        np.random.seed(0)
        x = np.random.uniform(0, 5, 30)
        y = 0.8 * x + np.random.normal(0, 0.5, 30)
        axes = Axes(x_range=[0, 6, 1], y_range=[-1, 6, 1], axis_config={include_numbers: True})
        dots = VGroup(*[Dot(axes.coord_to_point(a, b), radius=0.05) for a, b in zip(x, y)])
        self.play(Create(axes))
        self.play(LaggedStartMap(FadeIn, dots, lag_ratio=0.05))
        r = np.corrcoef(x, y)[0, 1]
        label = MathTex(f"r = {r:.2}f").to_corner(UL)
        self.play(Write(label))
        self.wait()
