"""The pictures of a scene on their way to the encoder's process. Needs no Manim."""
