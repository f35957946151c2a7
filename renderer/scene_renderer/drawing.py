"""Gives the paths of mobjects to Cairo faster than Manim, with the same calls and numbers.

Manim reads each coordinate from a NumPy array, which takes longer than Cairo's call itself, and finds the
sub-paths with a dozen operations on arrays, which is slow for the few curves of a letter.
"""

from math import isfinite
from typing import Any

import cairo
import numpy as np
from manim import VMobject
from manim.camera.camera import Camera

_manims_own = Camera.set_cairo_context_path
_split = VMobject.get_subpath_split_indices_from_points
_equal = VMobject.consider_points_equals_2d
_POINTS_PER_CURVE = 4
# Beyond, operations on arrays are faster.
_CURVES_MAX = 250
_RELATIVE_TOLERANCE = 1e-5


def draw_directly() -> None:
    """Replace the paths of Manim's cameras and of those of scenes."""
    Camera.set_cairo_context_path = _set_path  # type: ignore[method-assign, assignment]


def _set_path(self: Camera, ctx: "cairo.Context[Any]", vmobject: VMobject) -> Camera:
    """Make the path of a mobject the current one."""
    if not _is_ordinary(vmobject):
        return _manims_own(self, ctx, vmobject)
    points = self.transform_points_pre_display(vmobject, vmobject.points)
    if len(points) == 0:
        return self
    if points.dtype != np.float64:
        return _manims_own(self, ctx, vmobject)
    ctx.new_path()
    xy: list[float] = points[:, :2].ravel().tolist()
    tolerance = vmobject.tolerance_for_point_equality
    move_to, curve_to = ctx.move_to, ctx.curve_to
    for start, end in _subpaths(xy, vmobject, points):
        ctx.new_sub_path()
        move_to(xy[2 * start], xy[2 * start + 1])
        for at in range(2 * start + 2, 2 * (end - _POINTS_PER_CURVE) + 3, 2 * _POINTS_PER_CURVE):
            curve_to(*xy[at : at + 6])
        if _are_close(xy, start, end - 1, tolerance):
            ctx.close_path()
    return self


def _is_ordinary(vmobject: VMobject) -> bool:
    """Whether the class of a mobject does not decide by itself what a sub-path is."""
    kind = type(vmobject)
    return (
        vmobject.n_points_per_cubic_curve == _POINTS_PER_CURVE
        and type(vmobject.tolerance_for_point_equality) is float
        and vmobject.tolerance_for_point_equality >= 0
        and kind.get_subpath_split_indices_from_points is _split
        and kind.consider_points_equals_2d is _equal
    )


def _subpaths(xy: list[float], vmobject: VMobject, points: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    """Return the first point of each sub-path, and the one after its last."""
    count = len(points)
    if count > _CURVES_MAX * _POINTS_PER_CURVE:
        ranges = _split(vmobject, points, n_dims=2).tolist()
        return [(start, end) for start, end in ranges if end - start >= _POINTS_PER_CURVE]
    tolerance = vmobject.tolerance_for_point_equality
    starts = [
        at
        for at in range(_POINTS_PER_CURVE, count, _POINTS_PER_CURVE)
        if (xy[2 * at - 2] != xy[2 * at] or xy[2 * at - 1] != xy[2 * at + 1])
        and not _are_close(xy, at - 1, at, tolerance)
    ]
    return [
        (start, end)
        for start, end in zip([0, *starts], [*starts, count], strict=True)
        if end - start >= _POINTS_PER_CURVE
    ]


def _are_close(xy: list[float], first: int, second: int, tolerance: float) -> bool:
    """Compare two points as Manim does, that is, as `numpy.isclose`."""
    return _is_close(xy[2 * first], xy[2 * second], tolerance) and _is_close(
        xy[2 * first + 1], xy[2 * second + 1], tolerance
    )


def _is_close(one: float, other: float, tolerance: float) -> bool:
    if one == other:
        return True
    difference = abs(one - other)
    return difference <= tolerance + _RELATIVE_TOLERANCE * abs(other) and isfinite(difference)
