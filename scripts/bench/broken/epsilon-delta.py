from manim import *


class EpsilonDelta(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 4], y_range=[0, 4], x_length=6, y_length=6)
        f = axes.plot(lambda x: 0.5 * x + 1, color=BLUE)
        self.play(Create(axes), Create(f))
        point = axes.input_to_graph_point(2, f)
        v = axes.get_vertical_line(point, color=YELLOW)
        h = axes.get_horizontal_line(point, color=YELLOW)
        self.play(Create(v), Create(h))
        eps = ValueTracker(1)
        band = always_redraw(
            lambda: Rectangle(
                width=axes.x_length,
                height=axes.y_axis_unit() * 2 * eps.get_value(),
                stroke_width=0,
                fill_color=GREEN,
                fill_opacity=0.3,
            ).move_to(point)
        )
        self.add(band)
        self.play(eps.set_value, 0.3, run_time=2)
        self.wait()
