"""The encoder, its formats and streams, sound, captions and thumbnails. Needs no Manim."""
