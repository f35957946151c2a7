from manim import *


class Paraboloid(ThreeDScene):
    def construct(self):
        axes = ThreeDAxes()
        surface = ParametricSurface(
            lambda u, v: np.array([u, v, u**2 / 4 + v**2 / 4]),
            u_min=-2, u_max=2,
            v_range=[-2, 2],
            resolution=(10, 10),
        )
        self.set_camera_orientation(phi=60 * DEGREES, theta=-60 * DEGREES)
        self.play(Create(axes), Create(surface))
        self.move_camera(phi=30 * DEGREES, run_time=2)
        self.wait()
