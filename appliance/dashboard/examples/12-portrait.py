# Upright, for a phone (9:16)
from manim import *


class Portrait(Scene):
    def construct(self):
        colors = color_gradient([PURPLE, PINK, ORANGE], 9)
        rings = VGroup(*[
            Arc(radius=0.4 * n, angle=TAU * 0.8, color=color, stroke_width=14)
            for n, color in enumerate(colors, start=1)
        ])
        title = Text("phyllo\ntaxis", font_size=72, line_spacing=0.8).to_edge(UP, buff=1.2)
        golden = PI * (3 - 5**0.5)
        seeds = VGroup(*[
            Dot(radius=0.04 + 0.002 * n**0.6, color=interpolate_color(PURPLE, ORANGE, n / 220)).move_to(
                0.24 * n**0.5 * np.array([np.cos(n * golden), np.sin(n * golden), 0]) + DOWN
            )
            for n in range(1, 221)
        ])
        rings.move_to(DOWN)
        self.play(LaggedStart(*[Create(ring) for ring in rings], lag_ratio=0.1), run_time=1.5)
        self.play(Rotate(rings, TAU / 2), Write(title), run_time=1.2)
        self.play(FadeOut(rings, scale=0.3), LaggedStart(*[GrowFromCenter(s) for s in seeds], lag_ratio=0.01), run_time=2.5)
        self.play(Rotate(seeds, TAU / 3), run_time=1.5)
