"""The interface of manim-slides: each slide is a section of the video."""

from scene_renderer.authors.slides import Slide, ThreeDSlide

__all__ = ["Slide", "ThreeDSlide"]
