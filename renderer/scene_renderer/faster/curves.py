"""Measures the curves of mobjects faster than Manim, with equal numbers.

Manim measures each curve between ten of its points, which it computes one by one. Arrows measure their tips
many times.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from manim import VMobject

from ..replacing import replace

_manims_own = VMobject.get_nth_curve_length_pieces
_get_nth_curve_function = VMobject.get_nth_curve_function
_SAMPLE_POINTS = 10  # Manim's default
_KEPT = 16


def measure_directly() -> None:
    """Replace the measuring for Manim's and the scene's mobjects."""
    replace(VMobject, get_nth_curve_length_pieces=_get_nth_curve_length_pieces)


def _get_nth_curve_length_pieces(self: VMobject, n: int, sample_points: int | None = None) -> Any:
    """Return the distances between points at equal intervals of a curve's parameter."""
    if getattr(self.get_nth_curve_function, "__func__", None) is _get_nth_curve_function:
        curve: Any = self.get_nth_curve_points(n)
        count = _SAMPLE_POINTS if sample_points is None else sample_points
        is_known = type(curve) is np.ndarray and curve.dtype == np.float64 and type(count) is int
        if is_known and count > 0 and curve.ndim == 2 and len(curve) == 4:
            first, second, third, fourth = _weights(count)
            points = first * curve[0] + second * curve[1] + third * curve[2] + fourth * curve[3]
            pieces = points[1:] - points[:-1]
            return np.sqrt(np.add.reduce(pieces * pieces, axis=1))
    return _manims_own(self, n, sample_points)


@lru_cache(_KEPT)
def _weights(count: int) -> tuple[Any, ...]:
    """Return the factors of a cubic curve's points, computed in the order of Manim's operations."""
    t = np.linspace(0, 1, count)[:, np.newaxis]
    t2 = t * t
    t3 = t2 * t
    mt = 1 - t
    mt2 = mt * mt
    mt3 = mt2 * mt
    return mt3, 3 * t * mt2, 3 * t2 * mt, t3
