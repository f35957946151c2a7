from manim import *


class Clock(Scene):
    def construct(self):
        face = Circle(radius=2.5)
        ticks = VGroup()
        for hour in range(12):
            angle = hour * TAU / 12
            direction = np.array([np.cos(angle), np.sin(angle), 0])
            ticks.add(Line(2.2 * direction, 2.5 * direction))
        hand = Line(ORIGIN, UP * 2, color=Red, stroke_width=6)
        self.play(Create(face), FadeIn(ticks))
        self.play(GrowFromPoint(hand, ORIGIN))
        self.play(Rotate(hand, -TAU, about=ORIGIN), run_time=3, rate_func=linear)
        self.wait()
