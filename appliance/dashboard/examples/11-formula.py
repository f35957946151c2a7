# Completing the square
from manim import *


class Formula(Scene):
    def construct(self):
        steps = [
            MathTex("x^2", "+", "6", "x", "+", "5", "=", "0"),
            MathTex("x^2", "+", "6", "x", "=", "-", "5"),
            MathTex("x^2", "+", "6", "x", "+", "9", "=", "4"),
            MathTex("(", "x", "+", "3", ")", "^2", "=", "4"),
            MathTex("x", "=", "-", "3", r"\pm", "2"),
        ]
        for step in steps:
            step.scale(1.6)
        formula = steps[0]
        self.play(Write(formula))
        notes = ["Move the 5 to the right.", "Add 9 on both sides.", "The left is a square.", "Take the root."]
        for step, note in zip(steps[1:], notes):
            self.play(TransformMatchingTex(formula, step), subcaption=note, run_time=1.2)
            self.wait(0.4)
            formula = step
        self.play(Create(SurroundingRectangle(formula, color=YELLOW, buff=0.35)))
        self.wait(0.6)
