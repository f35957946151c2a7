"""Scene sources used by several tests."""

from textwrap import dedent, indent

SQUARE = """
from manim import *

class Demo(Scene):
    def construct(self):
        square = Square(color=RED, fill_opacity=1)
        self.play(Create(square))
        self.wait()
"""


def scene(body: str, *, above: str = "", base: str = "Scene") -> str:
    """The source of a scene ``Demo`` with this ``construct``."""
    head = f"from manim import *\n{dedent(above)}\nclass Demo({base}):\n    def construct(self):\n"
    return head + indent(dedent(body).strip("\n"), " " * 8) + "\n"
