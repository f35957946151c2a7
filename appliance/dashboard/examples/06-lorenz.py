# Lorenz: two paths part
from manim import *


class Lorenz(ThreeDScene):
    def construct(self):
        def path(start, steps=1500, dt=0.01):
            points = [np.array(start, dtype=float)]
            for _ in range(steps):
                x, y, z = points[-1]
                points.append(points[-1] + dt * np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]))
            return np.array(points)

        self.set_camera_orientation(phi=75 * DEGREES, theta=-50 * DEGREES, zoom=1.15)
        curves = VGroup()
        for start, color in [((1, 1, 20), BLUE), ((1.02, 1, 20), YELLOW)]:
            points = (path(start) - np.array([0, 0, 25])) * 0.13
            curves.add(VMobject(color=color, stroke_width=2).set_points_as_corners(points[::2]))
        self.begin_ambient_camera_rotation(rate=0.25)
        self.play(*[Create(curve, rate_func=linear) for curve in curves], run_time=6)
        self.wait(1)
