"""Scenes in slides."""

from scene_renderer.authors.slides import Slide, ThreeDSlide

__all__ = ["Slide", "ThreeDSlide"]
