"""Makes curves smooth faster than Manim, through the same points, such as the graphs of functions.

Manim solves the equations for the handles of a curve in two loops over its points, here done in C.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from manim import VMobject
from manim.utils import bezier

import scenepress_native

from ..replacing import replace

_manims_own = bezier.get_smooth_open_cubic_bezier_handle_points
_manims_subpaths = VMobject.get_subpaths_from_points
_OWN = {
    name: getattr(VMobject, name)
    for name in (
        "_gen_subpaths_from_points",
        "consider_points_equals",
        "get_subpath_split_indices_from_points",
    )
}
_KEPT = 64


def smooth_directly() -> None:
    """Replace both functions for Manim's and the scene's mobjects."""
    replace(bezier, get_smooth_open_cubic_bezier_handle_points=_handles)
    replace(VMobject, get_subpaths_from_points=_subpaths)


def _handles(anchors: Any) -> Any:
    """Return both handles of each piece of an open curve."""
    points = np.ascontiguousarray(anchors)
    if points.dtype != np.float64 or points.ndim != 2 or len(points) < 4:
        return _manims_own(anchors)
    count = len(points) - 1
    factors = _factors(count - 1)
    first = np.empty((count, points.shape[1]))
    first[0] = 0.5 * points[0] + points[1]
    terms = 4 * points[1 : count - 1] + 2 * points[2:count]
    scenepress_native.substitute_forward(first, factors, terms)
    end = 8 * points[count - 1] + points[count] - 2 * first[count - 2]
    first[count - 1] = (1 / (7 - 2 * factors[count - 2])) * end
    scenepress_native.substitute_back(first, factors)
    second = np.empty_like(first)
    second[:-1] = 2 * points[1:count] - first[1:]
    second[-1] = 0.5 * (points[count] + first[count - 1])
    return first, second


@lru_cache(_KEPT)
def _factors(count: int) -> Any:
    factors = np.empty(count)
    factors[0] = 0.5
    for at in range(1, count):
        factors[at] = 1 / (4 - factors[at - 1])
    return factors


def _subpaths(self: VMobject, points: Any) -> Any:
    """Return the parts of a curve, which end where the next piece doesn't begin."""
    if (
        type(points) is np.ndarray
        and points.dtype == np.float64
        and points.ndim == 2
        and self.tolerance_for_point_equality >= 0
        and all(getattr(getattr(self, name), "__func__", None) is own for name, own in _OWN.items())
    ):
        ends = self.get_subpath_split_indices_from_points(points, points.shape[1]).tolist()
        least = self.n_points_per_cubic_curve
        return [points[start:end] for start, end in ends if end - start >= least]
    return _manims_subpaths(self, points)
