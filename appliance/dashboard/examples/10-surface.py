# Ripples in three dimensions
from manim import *


class Ripples(ThreeDScene):
    def construct(self):
        time = ValueTracker(0)

        def surface():
            def height(u, v):
                r = np.sqrt(u**2 + v**2)
                return np.array([u, v, 0.7 * np.cos(2.2 * r - time.get_value()) / (1 + 0.35 * r)])

            ripples = Surface(height, u_range=[-3, 3], v_range=[-3, 3], resolution=(18, 18), stroke_width=0.4)
            axes = ThreeDAxes()
            return ripples.set_fill_by_value(axes=axes, colorscale=[(BLUE_E, -0.6), (TEAL, 0), (YELLOW, 0.6)])

        self.set_camera_orientation(phi=62 * DEGREES, theta=-45 * DEGREES)
        self.add(always_redraw(surface))
        self.begin_ambient_camera_rotation(rate=0.2)
        self.play(time.animate.set_value(2 * PI), run_time=3, rate_func=linear)
