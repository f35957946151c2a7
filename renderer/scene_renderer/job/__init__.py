"""The process that runs a scene: its life, Manim's settings, the frames, and its reports."""
