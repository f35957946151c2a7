"""Scenes in three dimensions."""

from manim import *


class Saddle(ThreeDScene):
    """A surface, and a camera that moves around it."""

    def construct(self):
        axes = ThreeDAxes(x_range=(-3, 3), y_range=(-3, 3), z_range=(-2, 2))
        saddle = Surface(
            lambda u, v: axes.c2p(u, v, (u**2 - v**2) / 4),
            u_range=(-2, 2),
            v_range=(-2, 2),
            resolution=(16, 16),
            checkerboard_colors=[BLUE_D, BLUE_E],
        )
        self.set_camera_orientation(phi=65 * DEGREES, theta=-45 * DEGREES)
        self.play(Create(axes), FadeIn(saddle))
        self.move_camera(phi=40 * DEGREES, theta=30 * DEGREES, run_time=1.5)
        self.begin_ambient_camera_rotation(rate=0.5)
        self.wait(1.5)
        self.stop_ambient_camera_rotation()


class Helix(ThreeDScene):
    """A curve that is drawn while the camera turns, with a fixed title."""

    def construct(self):
        axes = ThreeDAxes()
        curve = ParametricFunction(
            lambda t: np.array([1.8 * np.cos(t), 1.8 * np.sin(t), t / 4]),
            t_range=(-3 * PI, 3 * PI),
            color=YELLOW,
        )
        title = Tex(r"$(\cos t, \sin t, \frac{t}{4})$").to_corner(UL)
        self.add_fixed_in_frame_mobjects(title)
        self.set_camera_orientation(phi=70 * DEGREES, theta=20 * DEGREES)
        self.add(axes)
        self.begin_ambient_camera_rotation(rate=0.3)
        dot = Dot3D(curve.get_start(), color=RED)
        self.play(Create(curve), MoveAlongPath(dot, curve), run_time=3)
        self.wait(0.5)


class Solids(ThreeDScene):
    """Bodies that turn and change."""

    def construct(self):
        self.set_camera_orientation(phi=65 * DEGREES, theta=-60 * DEGREES, zoom=0.9)
        bodies = VGroup(
            Cube(1.4, fill_opacity=0.7),
            Dodecahedron(edge_length=0.6),
            Torus(0.8, 0.3, resolution=(12, 8)),
            Cone(0.8, 1.5, resolution=12),
        ).arrange(RIGHT, buff=0.8)
        self.play(LaggedStart(*(FadeIn(body, shift=IN) for body in bodies), lag_ratio=0.2))
        self.play(*(Rotate(body, PI / 2, axis=UP + RIGHT) for body in bodies), run_time=1.5)
        self.play(bodies[0].animate.set_color(RED), bodies[2].animate.scale(1.3), run_time=0.7)


class Ripple(ThreeDScene):
    """A surface that is rebuilt in each frame."""

    def construct(self):
        time = ValueTracker(0)

        def height(u, v):
            distance = np.sqrt(u * u + v * v)
            return np.array([u, v, 0.5 * np.cos(2.5 * distance - time.get_value())])

        surface = always_redraw(
            lambda: Surface(height, u_range=(-3, 3), v_range=(-3, 3), resolution=(14, 14), fill_opacity=0.9)
        )
        self.set_camera_orientation(phi=60 * DEGREES, theta=-50 * DEGREES)
        self.add(surface)
        self.play(time.animate.set_value(TAU), run_time=2, rate_func=linear)
