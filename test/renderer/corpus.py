"""Scenes whose frames are compared with those of the manim command."""

import random

import numpy as np
from manim import *

config.seed = 11


class Shapes(Scene):
    def construct(self):
        square, circle = Square(fill_opacity=0.5), Circle(color=RED)
        self.play(Create(square))
        self.wait(0.5)
        self.play(Transform(square, circle), run_time=0.7)
        self.play(square.animate.shift(RIGHT), FadeIn(Triangle()))
        self.wait(0.05)


class Words(Scene):
    def construct(self):
        self.play(Write(Text("Words", font_size=72)))
        self.play(FadeOut(*self.mobjects))


class Graph(Scene):
    def construct(self):
        tracker = ValueTracker(1)
        self.add(NumberPlane())
        self.add(always_redraw(lambda: FunctionGraph(lambda x: np.sin(tracker.get_value() * x))))
        self.play(tracker.animate.set_value(3), run_time=1.5)


class Chance(Scene):
    def construct(self):
        dot = Dot()
        dot.add_updater(lambda m, dt: m.shift(dt * np.array([random.gauss(0, 5), np.random.normal(), 0])))
        self.add(dot, TracedPath(dot.get_center))
        self.wait(1)
        self.wait_until(lambda: self.time > 1.4, max_time=3)


class Solid(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=70 * DEGREES, theta=30 * DEGREES)
        self.add(Cube(), ThreeDAxes())
        self.begin_ambient_camera_rotation(rate=1)
        self.wait(0.5)


class Moving(MovingCameraScene):
    def construct(self):
        self.add(Square(), Dot())
        self.play(self.camera.frame.animate.scale(0.5).shift(UP))


class Zoomed(ZoomedScene):
    def construct(self):
        self.add(Dot(), NumberPlane())
        self.activate_zooming(animate=True)
        self.wait(0.2)


class Painted(Scene):
    def __init__(self):
        super().__init__()
        self.camera.background_color = "#123456"

    def construct(self):
        self.add(
            ImageMobject(np.uint8([[[250, 0, 0], [0, 90, 250]]])).scale(40), PMobject().add_points([UP, DOWN])
        )
        self.next_section(skip_animations=True)
        self.play(Create(Square()))
        self.next_section()
        self.play(Create(Circle(color=TEAL, background_stroke_width=9)))


class Sections(Scene):
    def setup(self):
        self.add_foreground_mobject(Dot(color=YELLOW))

    def construct(self):
        config.background_color = GREEN
        config.frame_rate = config.frame_rate  # what it is already
        self.play(LaggedStart(*[GrowFromCenter(Dot(x * RIGHT)) for x in range(-3, 4)]))
        self.play(Succession(FadeIn(Square()), Rotate(self.mobjects[-1])), Wait(2.5))
