"""Compares the frames of the renderer with those of Manim's own command.

``npm run fidelity`` compares all examples of Manim's documentation, the scenes of `scenes.py` and those
of the benchmarks.
"""
