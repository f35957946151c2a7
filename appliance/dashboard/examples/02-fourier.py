# A square wave out of circles
from manim import *


class Fourier(Scene):
    def construct(self):
        terms = 5
        time = ValueTracker(0)
        origin = LEFT * 4

        def tips():
            points = [origin]
            for n in range(1, 2 * terms, 2):
                angle = n * time.get_value()
                points.append(points[-1] + 1.4 * 4 / (n * PI) * np.array([np.cos(angle), np.sin(angle), 0]))
            return points

        def machine():
            points = tips()
            circles = VGroup(*[
                Circle(radius=np.linalg.norm(b - a), color=BLUE, stroke_width=2, stroke_opacity=0.5).move_to(a)
                for a, b in zip(points, points[1:])
            ])
            arms = VMobject(color=WHITE, stroke_width=3).set_points_as_corners(points)
            return VGroup(circles, arms, Dot(points[-1], color=YELLOW))

        curve = []

        def wave():
            now = time.get_value()
            curve.append((now, tips()[-1][1]))
            points = [np.array([0.5 + (now - then) * 0.9, y, 0]) for then, y in curve]
            path = VMobject(color=YELLOW, stroke_width=4)
            return path.set_points_as_corners(points) if len(points) > 1 else path

        def link():
            tip = tips()[-1]
            return DashedLine(tip, np.array([0.5, tip[1], 0]), color=GREY, stroke_width=2)

        self.add(always_redraw(machine), always_redraw(link), always_redraw(wave))
        self.play(time.animate.set_value(2 * PI), run_time=6, rate_func=linear)
