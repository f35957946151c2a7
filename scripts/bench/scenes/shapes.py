"""Scenes with many shapes."""

import random

from manim import *


class Dots(Scene):
    """Hundreds of dots, each with an animation of its own."""

    def construct(self):
        generator = random.Random(5)
        dots = VGroup(*(Dot(radius=0.06) for _ in range(300))).arrange_in_grid(15, 20, buff=0.2)
        dots.set_color_by_gradient(BLUE, TEAL, YELLOW)
        self.play(LaggedStart(*(FadeIn(dot, scale=0.3) for dot in dots), lag_ratio=0.005), run_time=1.5)
        places = [generator.uniform(-6, 6) * RIGHT + generator.uniform(-3, 3) * UP for _ in dots]
        self.play(
            *(dot.animate.move_to(place) for dot, place in zip(dots, places, strict=True)), run_time=1.5
        )
        ring = [3 * np.array([np.cos(angle), np.sin(angle), 0]) for angle in np.linspace(0, TAU, len(dots))]
        self.play(
            *(dot.animate.move_to(place).set_color(RED) for dot, place in zip(dots, ring, strict=True)),
            run_time=1.5,
        )


class Particles(Scene):
    """Balls that fly and bounce, moved by updaters."""

    def construct(self):
        generator = np.random.default_rng(7)
        box = Rectangle(width=12, height=6.5)
        balls = VGroup()
        for _ in range(60):
            ball = Circle(0.12, fill_opacity=0.9, stroke_width=0)
            ball.set_color(random_bright(generator))
            ball.move_to([generator.uniform(-5.5, 5.5), generator.uniform(-2.8, 2.8), 0])
            ball.velocity = generator.uniform(-4, 4, 3) * np.array([1, 1, 0])
            ball.add_updater(bounce)
            balls.add(ball)
        self.add(box, balls)
        self.wait(4)


def random_bright(generator):
    return ManimColor.from_hsv((generator.uniform(0, 1), 0.7, 1.0))


def bounce(ball, dt):
    ball.shift(ball.velocity * dt)
    x, y, _ = ball.get_center()
    if abs(x) > 5.88:
        ball.velocity[0] = -np.sign(x) * abs(ball.velocity[0])
    if abs(y) > 3.13:
        ball.velocity[1] = -np.sign(y) * abs(ball.velocity[1])


class Mosaic(Scene):
    """Polygons of many kinds that change into each other."""

    def construct(self):
        shapes = VGroup(
            *(RegularPolygon(3 + number % 6, radius=0.4, fill_opacity=0.7) for number in range(40))
        ).arrange_in_grid(5, 8, buff=0.5)
        shapes.set_color_by_gradient(PURPLE, RED, ORANGE)
        self.play(LaggedStart(*(DrawBorderThenFill(shape) for shape in shapes), lag_ratio=0.03))
        self.play(*(Rotate(shape, PI) for shape in shapes), run_time=1)
        others = VGroup(*(Star(5 + number % 4, outer_radius=0.4, fill_opacity=0.7) for number in range(40)))
        others.arrange_in_grid(5, 8, buff=0.5).set_color_by_gradient(BLUE, GREEN)
        self.play(Transform(shapes, others), run_time=1.2)
        self.play(shapes.animate.scale(0.3).rotate(PI / 3), run_time=0.8)
        self.play(FadeOut(shapes, shift=DOWN), run_time=0.5)


class VennDiagram(Scene):
    """Sets, their unions and intersections, and what they are called."""

    def construct(self):
        left = Circle(1.7, color=BLUE, fill_opacity=0.4).shift(1.1 * LEFT)
        right = Circle(1.7, color=RED, fill_opacity=0.4).shift(1.1 * RIGHT)
        names = VGroup(MathTex("A").next_to(left, UL, buff=0), MathTex("B").next_to(right, UR, buff=0))
        self.play(Create(left), Create(right), Write(names))
        for operation, name in (
            (Intersection, r"A \cap B"),
            (Union, r"A \cup B"),
            (Difference, r"A \setminus B"),
            (Exclusion, r"A \bigtriangleup B"),
        ):
            part = operation(left, right, color=YELLOW, fill_opacity=0.8)
            label = MathTex(name).to_edge(DOWN)
            self.play(FadeIn(part), Write(label), run_time=0.7)
            self.wait(0.3)
            self.play(FadeOut(part), FadeOut(label), run_time=0.3)


class Gradient(Scene):
    """A picture of pixels, shaded shapes and thick strokes: hard to encode."""

    def construct(self):
        x, y = np.meshgrid(np.linspace(-2, 2, 200), np.linspace(-1.2, 1.2, 120))
        waves = np.sin(6 * np.hypot(x, y)) * np.exp(-np.hypot(x, y)) * 127 + 128
        pixels = np.dstack([waves, np.roll(waves, 40, axis=1), 255 - waves]).astype(np.uint8)
        picture = ImageMobject(pixels).set_height(5)
        disc = Circle(1.5, fill_opacity=0.9).set_color([PURPLE, ORANGE]).set_sheen(0.4, UR).shift(4 * RIGHT)
        self.play(FadeIn(picture))
        self.play(picture.animate.shift(2.5 * LEFT).scale(0.9), GrowFromCenter(disc))
        self.play(Rotate(disc, PI), picture.animate.rotate(PI / 8), run_time=1.5)
