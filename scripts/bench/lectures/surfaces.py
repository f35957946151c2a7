"""Functions of two variables: surfaces, a moving camera, and formulas that stay in the frame."""

from manim import *

ACCENT = YELLOW
# colour, instead: ACCENT = RED


class Surfaces(ThreeDScene):
    def construct(self):
        title = Tex("Functions of two variables").to_corner(UL)
        self.add_fixed_in_frame_mobjects(title)
        self.play(Write(title))
        self.axes = ThreeDAxes(x_range=(-3, 3), y_range=(-3, 3), z_range=(-2, 2), x_length=6, y_length=6)
        self.play(Create(self.axes))
        self.move_camera(phi=65 * DEGREES, theta=-50 * DEGREES, run_time=1.5)
        # early, also: self.play(Indicate(title, color=ACCENT))
        bowl = self.surface(lambda x, y: (x * x + y * y) / 4 - 1)
        formula = self.formula(r"z = \tfrac{1}{4}(x^2 + y^2) - 1")
        self.play(Create(bowl), run_time=2)
        self.play(Write(formula))
        self.wait(0.5)
        point = Dot3D(self.axes.c2p(0, 0, -1), color=ACCENT)
        self.play(FadeIn(point, scale=3))
        for x, y in ((1.5, 0), (0, 1.5), (-1, -1), (0, 0)):
            self.play(point.animate.move_to(self.axes.c2p(x, y, (x * x + y * y) / 4 - 1)), run_time=0.7)
        self.play(FadeOut(formula), run_time=0.5)
        self.move_camera(theta=10 * DEGREES, run_time=1.5)

        formula = self.formula(r"z = \tfrac{1}{4}(x^2 - y^2)")
        # text, instead: formula = self.formula(r"z = \frac{x^2 - y^2}{4}")
        saddle = self.surface(lambda x, y: (x * x - y * y) / 4)
        self.play(Transform(bowl, saddle), point.animate.move_to(self.axes.c2p(0, 0, 0)), run_time=1.5)
        self.play(FadeIn(formula))
        for angle in (0, PI / 2):
            path = self.section(angle)
            self.play(Create(path))
            self.play(MoveAlongPath(point, path), run_time=1.2)
            self.play(FadeOut(path), run_time=0.4)
        self.begin_ambient_camera_rotation(rate=0.4)
        self.wait(2)
        self.stop_ambient_camera_rotation()
        self.play(FadeOut(formula, point), run_time=0.5)

        formula = self.formula(r"z = \sin(x) \cos(y)")
        waves = self.surface(lambda x, y: np.sin(1.5 * x) * np.cos(1.5 * y))
        self.play(Transform(bowl, waves), FadeIn(formula), run_time=1.5)
        self.move_camera(phi=30 * DEGREES, run_time=1)
        arrows = VGroup()
        for x in np.linspace(-1.8, 1.8, 5):
            for y in np.linspace(-1.8, 1.8, 5):
                end = np.array([np.cos(1.5 * x) * np.cos(1.5 * y), -np.sin(1.5 * x) * np.sin(1.5 * y)]) / 2
                start = self.axes.c2p(x, y, 1.2)
                arrows.add(Line(start, self.axes.c2p(x + end[0], y + end[1], 1.2), color=ACCENT))
        self.play(LaggedStart(*(Create(arrow) for arrow in arrows), lag_ratio=0.05), run_time=1.5)
        gradient = MathTex(r"\nabla f", color=ACCENT).to_corner(DR)
        self.add_fixed_in_frame_mobjects(gradient)
        self.play(Write(gradient))
        self.wait(0.5)
        self.play(FadeOut(arrows))
        self.move_camera(phi=75 * DEGREES, theta=60 * DEGREES, run_time=1.5)
        self.play(bowl.animate.set_opacity(0.3), FadeOut(gradient))
        self.play(FadeOut(bowl, self.axes))
        # last, instead: self.play(FadeOut(bowl, shift=2 * IN), FadeOut(self.axes))

    def surface(self, height):
        return Surface(
            lambda u, v: self.axes.c2p(u, v, height(u, v)),
            u_range=(-2, 2),
            v_range=(-2, 2),
            resolution=(14, 14),
            checkerboard_colors=[BLUE_D, BLUE_E],
        )

    def formula(self, tex):
        formula = MathTex(tex, color=ACCENT).to_corner(UR)
        self.add_fixed_in_frame_mobjects(formula)
        self.remove(formula)
        return formula

    def section(self, angle):
        """Return the curve above a line through the origin."""
        x, y = np.cos(angle), np.sin(angle)

        def place(t):
            return self.axes.c2p(t * x, t * y, t * t * (x * x - y * y) / 4 + 0.02)

        return ParametricFunction(place, t_range=(-2, 2), color=ACCENT)
