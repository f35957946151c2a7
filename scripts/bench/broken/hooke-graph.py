from manim import *


class HookeGraph(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 5], y_range=[0, 10, 2], x_length=6, y_length=4)
        labels = axes.get_axis_labels("x", "F", "z")
        data = [(1, 2.1), (2, 3.9), (3, 6.2), (4, 7.8)]
        crosses = VGroup(*[Cross(scale_factor=0.1).move_to(axes.c2p(x, f)) for x, f in data])
        line = axes.plot(lambda x: 2 * x, color=ORANGE)
        self.play(Create(axes), Write(labels))
        self.play(Create(crosses))
        self.play(Create(line))
        slope = MathTex("k = 2").next_to(line.get_end, LEFT)
        self.play(Write(slope))
        self.wait()
