"""Interpolates the colours and strokes of mobjects faster than Manim, to the same bits.

Manim does it for each mobject of an animation in each frame, with a loop over names of attributes.
"""

from typing import Any

from manim import VMobject

_manims_own = VMobject.interpolate_color


def interpolate_directly() -> None:
    """Replace the interpolation for Manim's mobjects and those of scenes."""
    VMobject.interpolate_color = _interpolate_color  # type: ignore[method-assign]


def _interpolate_color(self: Any, mobject1: Any, mobject2: Any, alpha: float) -> Any:
    """Set colours and strokes to those between two mobjects."""
    if alpha == 1.0:
        return _manims_own(self, mobject1, mobject2, alpha)
    beta = 1 - alpha
    self.fill_rgbas = beta * mobject1.fill_rgbas + alpha * mobject2.fill_rgbas
    self.stroke_rgbas = beta * mobject1.stroke_rgbas + alpha * mobject2.stroke_rgbas
    self.background_stroke_rgbas = (
        beta * mobject1.background_stroke_rgbas + alpha * mobject2.background_stroke_rgbas
    )
    self.stroke_width = beta * mobject1.stroke_width + alpha * mobject2.stroke_width
    self.background_stroke_width = (
        beta * mobject1.background_stroke_width + alpha * mobject2.background_stroke_width
    )
    self.sheen_direction = beta * mobject1.sheen_direction + alpha * mobject2.sheen_direction
    self.sheen_factor = beta * mobject1.sheen_factor + alpha * mobject2.sheen_factor
    return self
