"""The least that shows a renderer to be alive: something to draw, to encode and to decode."""

from manim import *


class Probe(Scene):
    def construct(self):
        self.add(Text("alive"), Circle())
        self.wait(1 / config.frame_rate)
