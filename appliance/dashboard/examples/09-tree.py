# A tree that grows
from manim import *


class Tree(Scene):
    def construct(self):
        def branches(start, angle, length, depth):
            end = start + length * np.array([np.cos(angle), np.sin(angle), 0])
            color = interpolate_color(ManimColor("#8a5a34"), GREEN_B, 1 - depth / 8)
            levels[8 - depth].add(Line(start, end, color=color, stroke_width=1.5 * depth))
            if depth > 1:
                branches(end, angle + 0.42, length * 0.76, depth - 1)
                branches(end, angle - 0.36, length * 0.79, depth - 1)

        levels = [VGroup() for _ in range(8)]
        branches(DOWN * 3.6, PI / 2, 1.75, 8)
        for level in levels:
            self.play(*[Create(line) for line in level], run_time=0.45, rate_func=linear)
        leaves = VGroup(*[
            Dot(line.get_end(), radius=0.05, color=random_bright_color()).set_opacity(0.9) for line in levels[-1]
        ])
        self.play(LaggedStart(*[GrowFromCenter(leaf) for leaf in leaves], lag_ratio=0.01), run_time=1.2)
        self.wait(0.6)
