# Hello, circle
from manim import *


class Hello(Scene):
    def construct(self):
        circle = Circle(radius=1.5, color=BLUE, fill_opacity=0.4)
        square = Square(2.6, color=YELLOW, fill_opacity=0.4).rotate(PI / 4)
        title = Text("Hello, Manim", font_size=44).to_edge(DOWN, buff=0.7)

        self.play(Create(square))
        self.play(Transform(square, circle), Write(title), subcaption="A square becomes a circle.")
        self.play(square.animate.set_fill(PINK, opacity=0.7).rotate(PI))
        self.wait(0.5)
