from manim import *


class Shares(Scene):
    def construct(self):
        shares = [0.5, 0.3, 0.2]
        colors = [RED, GREEN, BLUE]
        start = 0
        slices = VGroup()
        for share, color in zip(shares, colors):
            slices.add(Sector(outer_radius=2, start_angle=start, angle=share * TAU, color=color, fill_opacity=0.8))
            start += share * TAU
        self.play(LaggedStart(*[FadeIn(s) for s in slices], lag_ratio=0.3))
        for s, share in zip(slices, share):
            label = Text(f"{share:.0%}", font_size=28).move_to(s.get_center())
            self.play(Write(label), run_time=0.4)
        legend = Text("votes").next_to(slices, BELOW)
        self.play(FadeIn(legend))
        self.wait()
