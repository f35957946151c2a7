from manim import *


class SumOfOdds(Scene):
    def construct(self):
        layers = VGroup()
        colors = [BLUE, GREEN, YELLOW, RED]
        for n in range(4):
            layer = VGroup()
            for k in range(n + 1):
                layer.add(Square(side_length=0.7).move_to(RIGHT * 0.7 * n + UP * 0.7 * k))
                if k < n:
                    layer.add(Square(side_length=0.7).move_to(RIGHT * 0.7 * k + UP * 0.7 * n))
            layer.set_fill(colors[n + 1], opacity=0.7)
            layers.add(layer)
        layers.center_on_screen()
        for layer in layers:
            self.play(FadeIn(layer), run_time=0.5)
        claim = MathTex(r"1 + 3 + 5 + 7 = 4^2").to_edge(UP)
        self.play(Write(claim))
        self.play(Circumscribe(claim, colour=YELLOW))
        self.wait()
