from manim import *


class Confidence(Scene):
    def construct(self):
        axes = NumberLine(x_range=[0, 10, 1], length=10, include_numbers=True)
        self.play(Create(axes))
        rng = np.random.default_rng(7)
        for k in range(5):
            center = rng.normal(5, 0.8)
            left, right = axes.n2p(center - 1), axes.n2p(center + 1)
            bar = Line(left, right, color=GREEN if abs(center - 5) < 1 else RED)
            bar.shift(UP * (k + 1) * 0.5)
            self.play(Create(bar), run_time=0.3)
        note = Tex("95% of the intervals contain the mean")
        note.to_edge(UP)
        self.play(Write(note))
        self.wait("2")
