from manim import *


class ChainRule(Scene):
    def construct(self):
        title = TextMobject("The chain rule").to_edge(UP)
        rule = MathTex(r"\frac{dy}{dx}", "=", r"\frac{dy}{du}", r"\cdot", r"\frac{du}{dx}")
        rule.set_color_by_tex("dy", LIGHT_PINK)
        self.play(Write(title))
        self.play(Write(rule))
        self.play(Indicate(rule[2]), Indicate(rule[4]))
        example = MathTex(r"\frac{d}{dx} \sin(x^2) = 2x \cos(x^2)")
        example.next_to(rule, DOWN, buff=1)
        self.play(FadeIn(example, direction=UP))
        self.wait(2)
