"""Whether scenes come out of the renderer with the frames that Manim's own command gives them.

``npm run fidelity`` compares all examples of Manim's documentation and the scenes of `scenes.py`.
"""
