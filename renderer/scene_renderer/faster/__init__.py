"""Faster replacements of Manim's functions, with the same results."""
