from manim import *


class AreaBetween(Scene):
    def construct(self):
        axes = Axes(
            x_range=[0, 4],
            y_range=[0, 5],
            x_axis_length=7,
            axis_config={"color": GREY},
        )
        upper = axes.plot(lambda x: 4 - (x - 2) ** 2, x_range=[0, 4], color=BLUE)
        lower = axes.plot(lambda x: 0.5 * x, x_range=[0, 4], color=GREEN)
        self.play(Create(axes))
        self.play(Create(upper), Create(lower))
        area = axes.get_area(upper, x_range=[0.3, 3.1], bounded=lower, color=YELLOW, opacity=0.4)
        self.play(FadeIn(area))
        label = axes.get_graph_labels(upper, "f", x_val=3)
        self.play(Write(label))
        self.wait()
