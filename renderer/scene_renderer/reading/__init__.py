"""Reads the source of scenes without running it, and tells what a render would fail on.

The author's code is only parsed. What it uses of Manim, NumPy and the standard library is looked up in the
modules that this process has imported; nothing is imported for it.
"""

from .declared import declared_in
from .find import find

__all__ = ["declared_in", "find"]
