"""Text, TeX and 3D in a fraction of a second: what a sandbox must not get in the way of."""

from manim import *


class Trial(ThreeDScene):
    def construct(self):
        self.set_camera_orientation(phi=PI / 4, theta=PI / 4)
        surface = Surface(lambda u, v: np.array([u, v, u * v]), resolution=2)
        self.add(surface, Text("text"), MathTex(r"\sqrt{x}"))
        self.wait(1 / config.frame_rate)
