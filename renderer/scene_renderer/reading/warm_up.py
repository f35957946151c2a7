"""Finds out what most sources need, before a process is forked that reads one."""

import types

import manim

from . import own, representatives, rules
from .find import find
from .installed import INSTALLED
from .tex_names import commands

_USUAL = """from manim import *


class Usual(Scene):
    def construct(self):
        axes = Axes(x_range=[0, 3], axis_config={"include_numbers": True})
        graph = axes.plot(lambda x: x**2, color=BLUE)
        dots = VGroup(*[Dot(axes.c2p(k, k**2), radius=0.1) for k in range(3)]).arrange(RIGHT, buff=0.5)
        words = Text("text", font_size=36).next_to(dots, DOWN)
        formula = MathTex(r"x^2", color=RED).to_edge(UP)
        tracker = ValueTracker(0)
        words.add_updater(lambda m: m.set_x(tracker.get_value()))
        self.play(Create(axes), FadeIn(dots, shift=UP), Write(formula), run_time=2)
        self.play(dots.animate.shift(2 * UP).set_fill(RED, opacity=0.5))
        self.play(LaggedStart(*[Indicate(dot) for dot in dots]))
        self.wait(1)
        self.add(Circl(), Square(sides=3), graph.get_centre())
"""


def warm_up() -> None:
    """Look up the functions of Manim's classes, and make the mobjects that calls are tried on."""
    INSTALLED.warm_up()
    commands()
    for thing in [*vars(manim).values()]:
        if not isinstance(thing, type) or not thing.__module__.startswith("manim."):
            continue
        for function in [*vars(thing).values()]:
            if isinstance(function, types.FunctionType):
                own.mimic(function)
                INSTALLED.result(function)
                rules.annotations_of(function)
        representatives.prepare(thing)
    find(_USUAL)
