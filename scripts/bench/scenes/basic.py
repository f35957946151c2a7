"""Typical scenes in typical sizes, of a few seconds each."""

from manim import *


class SquareToCircle(Scene):
    def construct(self):
        circle = Circle(color=PINK, fill_opacity=0.5)
        square = Square().rotate(PI / 4)
        self.play(Create(square))
        self.play(Transform(square, circle))
        self.play(FadeOut(square))


class Title(Scene):
    def construct(self):
        title = Text("The sum of the odd numbers", font_size=56)
        self.play(Write(title))
        self.wait(2)
        self.play(title.animate.to_edge(UP))
        self.wait()


class Derivation(Scene):
    def construct(self):
        lines = [r"(a + b)^2", r"= (a + b)(a + b)", r"= a^2 + ab + ba + b^2", r"= a^2 + 2ab + b^2"]
        formulas = VGroup(*(MathTex(line) for line in lines)).arrange(DOWN, aligned_edge=LEFT)
        for formula in formulas:
            self.play(Write(formula), run_time=0.75)
            self.wait(0.5)
        self.play(Circumscribe(formulas[-1]))


class Parabola(Scene):
    def construct(self):
        axes = Axes(x_range=(-3, 3), y_range=(0, 9, 3), x_length=9, y_length=6).add_coordinates()
        curve = axes.plot(lambda x: x**2, color=YELLOW)
        self.play(Create(axes))
        self.play(Create(curve))
        dot = Dot(color=RED)
        x = ValueTracker(-3)
        dot.add_updater(lambda dot: dot.move_to(axes.c2p(x.get_value(), x.get_value() ** 2)))
        self.add(dot)
        self.play(x.animate.set_value(3), run_time=2)


class Grid(Scene):
    def construct(self):
        grid = VGroup(*(Square(0.4, fill_opacity=0.8) for _ in range(150))).arrange_in_grid(10, 15, buff=0.1)
        grid.set_color_by_gradient(BLUE, GREEN, YELLOW)
        self.play(LaggedStart(*(GrowFromCenter(square) for square in grid), lag_ratio=0.01))
        self.play(grid.animate.rotate(PI / 6).scale(0.8))


class Surface(ThreeDScene):
    def construct(self):
        axes = ThreeDAxes()
        hill = Sphere(radius=2, resolution=(12, 12))
        self.set_camera_orientation(phi=65 * DEGREES, theta=30 * DEGREES)
        self.add(axes)
        self.play(Create(hill))
        self.begin_ambient_camera_rotation(rate=0.4)
        self.wait(1)


class Zoom(MovingCameraScene):
    def construct(self):
        plane = NumberPlane()
        dot = Dot(3 * RIGHT + UP, color=RED)
        self.add(plane, dot)
        self.play(self.camera.frame.animate.scale(0.4).move_to(dot))
        self.wait(0.5)
        self.play(self.camera.frame.animate.scale(2.5).move_to(ORIGIN))


class Slide(Scene):
    """A mostly static scene, as in a lecture."""

    def construct(self):
        points = BulletedList("A point", "Another point", "And $e^{i\\pi} + 1 = 0$", font_size=48)
        for point in points:
            self.play(FadeIn(point, shift=RIGHT), run_time=0.5)
            self.wait(4)
