# Hello, circle
from manim import *


class Hello(Scene):
    def construct(self):
        circle = Circle(color=BLUE, fill_opacity=0.4)
        square = Square(color=YELLOW, fill_opacity=0.4).rotate(PI / 4)
        title = Text("Hello, Manim", font_size=44).to_edge(DOWN, buff=1)

        self.play(Create(square))
        self.play(Transform(square, circle), Write(title), subcaption="A square becomes a circle.")
        self.play(square.animate.set_fill(PINK, opacity=0.7).scale(1.3))
        self.wait(0.5)
