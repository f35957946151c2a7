"""Aligns curves with one another faster than Manim, with the same points.

Before one mobject becomes another, or is transformed into it, each gets curves until both have the same
number. Manim divides each curve on its own, also those that stay whole.
"""

from typing import Any

import numpy as np
from manim import VMobject
from manim.mobject.types import vectorized_mobject
from manim.utils import bezier

from ..replacing import replace

_manims_align = VMobject.align_points
_manims_insert = VMobject.insert_n_curves_to_point_list
_manims_remap = bezier.bezier_remap
_RELATIVE = 1.0e-5  # the tolerances of `numpy.allclose`


def align_directly() -> None:
    """Replace the alignment for Manim's and the scene's mobjects."""
    replace(VMobject, align_points=_align, insert_n_curves_to_point_list=_insert)
    replace(vectorized_mobject, bezier_remap=_remap)
    _own.update(_methods())


def _methods() -> dict[str, Any]:
    names = ("consider_points_equals", "get_subpaths", "insert_n_curves_to_point_list")
    return {name: getattr(VMobject, name) for name in names}


_own = _methods()


def _align(self: VMobject, vmobject: VMobject) -> VMobject:
    """Add points to two mobjects so that they have equal numbers, as Manim's method does."""
    if not (_is_plain(self) and _is_plain(vmobject)):
        return _manims_align(self, vmobject)
    self.align_rgbas(vmobject)
    if self.get_num_points() == vmobject.get_num_points():
        return self
    for mobject in self, vmobject:
        if mobject.has_no_points():
            mobject.start_new_path(mobject.get_center())
        if mobject.has_new_path_started():
            mobject.add_line_to(mobject.get_last_point())
    parts, others = self.get_subpaths(), vmobject.get_subpaths()
    ours: list[Any] = [np.zeros((0, 3))]
    theirs: list[Any] = [np.zeros((0, 3))]
    least = self.n_points_per_cubic_curve
    tolerance = self.tolerance_for_point_equality
    for number in range(max(len(parts), len(others))):
        one, other = _part(parts, number, least, tolerance), _part(others, number, least, tolerance)
        ours.append(self.insert_n_curves_to_point_list(max(0, (len(other) - len(one)) // least), one))
        theirs.append(self.insert_n_curves_to_point_list(max(0, (len(one) - len(other)) // least), other))
    self.set_points(np.concatenate(ours))
    vmobject.set_points(np.concatenate(theirs))
    return self


def _is_plain(vmobject: VMobject) -> bool:
    points = vmobject.points
    return (
        type(points) is np.ndarray
        and points.dtype == np.float64
        and points.ndim == 2
        and points.shape[1] == 3
        and vmobject.dim == 3
        and vmobject.n_points_per_cubic_curve == 4
        and vmobject.tolerance_for_point_equality >= 0
        and all(getattr(getattr(vmobject, name), "__func__", None) is own for name, own in _own.items())
    )


def _part(parts: list[Any], number: int, least: int, tolerance: float) -> Any:
    """Return a part of a curve without curves at its end that are only a point."""
    if number >= len(parts):
        return np.tile(parts[-1][-1] if parts else np.zeros(3), (least, 1))
    part = parts[number]
    while len(part) > least and _are_equal(part[-least:].tolist(), part[-least - 1].tolist(), tolerance):
        part = part[:-least]
    return part


def _are_equal(points: list[list[float]], point: list[float], tolerance: float) -> bool:
    """Whether all points equal another one within the tolerances of `numpy.allclose`."""
    for at in points:
        for number, reference in zip(at, point, strict=True):
            # Comparisons with NaN are false; infinities are equal if they are the same.
            near = abs(number - reference) <= tolerance + _RELATIVE * abs(reference) < np.inf
            if not near and number != reference:
                return False
    return True


def _insert(self: VMobject, n: int, points: Any) -> Any:
    """Return the points of a curve that is divided further."""
    least = self.n_points_per_cubic_curve
    if n == 0 and type(points) is np.ndarray and points.dtype == np.float64 and len(points) >= max(least, 2):
        return np.array(points[: len(points) - len(points) % least]).reshape(-1, 3)
    return _manims_insert(self, n, points)


def _remap(bezier_tuples: Any, new_number_of_curves: int) -> Any:
    """Divide curves so that they become a greater number."""
    curves = np.asarray(bezier_tuples)
    count = len(curves)
    if curves.ndim != 3 or curves.dtype != np.float64 or not 0 < count < new_number_of_curves:
        return _manims_remap(bezier_tuples, new_number_of_curves)
    of_curve = (np.arange(new_number_of_curves, dtype="i") * count) // new_number_of_curves
    divided = curves[of_curve]
    if new_number_of_curves < 2 * count:
        twice = np.flatnonzero(of_curve[1:] == of_curve[:-1])
        for at, curve in zip(twice.tolist(), curves[of_curve[twice]], strict=True):
            divided[at : at + 2] = bezier.subdivide_bezier(curve, 2).reshape(2, *curve.shape)
        return divided
    at = 0
    for curve, factor in zip(curves, np.bincount(of_curve, minlength=count).tolist(), strict=True):
        divided[at : at + factor] = bezier.subdivide_bezier(curve, factor).reshape(factor, *curve.shape)
        at += factor
    return divided
