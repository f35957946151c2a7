from manim import *


class Entrances(Scene):
    def construct(self):
        square = Square(color=TEAL)
        circle = Circle(color=MAROON)
        group = VGroup(square, circle).arrange(RIGHT, buff=2)
        self.play(FadeInFrom(square, DOWN))
        self.play(FadeInFromLarge(circle))
        self.play(group.animate.arrange(DOWN))
        self.play(circle)
        self.play(FadeOutAndShiftDown(group))
        self.wait()
