"""Encodes the pictures of scenes, in processes that no scene runs in. Needs no Manim."""
