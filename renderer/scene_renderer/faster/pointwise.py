"""Applies functions to all points of mobjects with fewer steps than Manim, with the same calls and results.

Manim calls the function of a scene for each point through functions of its own and NumPy's. Waves
(`ApplyWave`), which consist of Manim's functions only, are computed for all points of a mobject at once.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat, starmap
from typing import Any

import numpy as np
import numpy.typing as npt
from manim import Homotopy, Mobject, PhaseFlow, VMobject
from manim.constants import ORIGIN

from ..replacing import replace
from . import waves

_Points = npt.NDArray[np.float64]
_FLOAT = np.dtype(np.float64)
_SHAPE = (3,)
_FLOATS = {float, np.float64}
_ON_CURVE = 4

_manims_scale = VMobject.scale_handle_to_anchor_distances
_OWN: dict[str, Any] = {
    name: getattr(VMobject, name) for name in ("get_anchors_and_handles", "set_anchors_and_handles")
}


def apply_directly() -> None:
    """Replace the functions for Manim's and the scene's mobjects and animations."""
    replace(Mobject, apply_function=_apply_function, apply_complex_function=_apply_complex_function)
    replace(VMobject, scale_handle_to_anchor_distances=_scale_handles)
    replace(Homotopy, function_at_time_t=_function_at_time_t)
    replace(PhaseFlow, interpolate_mobject=_flow)


class _Homotopy:
    """The function of a `Homotopy` at a time."""

    def __init__(self, animation: Homotopy, t: float) -> None:
        self._animation = animation
        self._t = t

    def __call__(self, p: Any) -> Any:
        x, y, z = p
        return np.array(self._animation.homotopy(x, y, z, self._t))

    def at_all(self, points: _Points) -> Any:
        nudged = waves.nudged(self._animation.homotopy, points, self._t)
        if nudged is not None:
            return nudged
        arguments = zip(*_coordinates(points), repeat(self._t), strict=False)
        return _joined(starmap(self._animation.homotopy, arguments), points, np.array)


class _OfComplex:
    """A function of points by one of complex numbers."""

    def __init__(self, results: Callable[[Iterable[Any]], Iterator[Any]]) -> None:
        self._results = results

    def __call__(self, point: Any) -> Any:
        return np.array(next(self._results([point])))

    def at_all(self, points: _Points) -> Any:
        return _joined(self._results(zip(*_coordinates(points), strict=True)), points, np.array)


class _Step:
    """Where a `PhaseFlow` moves a point in a time."""

    def __init__(self, animation: PhaseFlow, dt: float) -> None:
        self._animation = animation
        self._dt = dt

    def __call__(self, p: Any) -> Any:
        return p + self._dt * self._animation.function(p)

    def at_all(self, points: _Points) -> Any:
        dt = self._dt
        rows, others = _rows(map(self._animation.function, points), points)
        if others is None:
            return points + dt * rows
        results = (p + dt * velocity for p, velocity in zip(points, chain(rows, others), strict=True))
        return _by_numpy(results, points, np.asanyarray)


def _apply_function(
    self: Mobject, function: Any, *, about_point: Any = None, about_edge: Any = None
) -> Mobject:
    """Apply a function to each point."""
    if about_point is None and about_edge is None:
        about_point = ORIGIN
    self.apply_points_function_about_point(lambda points: _at_all(function, points), about_point, about_edge)
    return self


def _apply_complex_function(
    self: Mobject, function: Callable[[complex], Any], *, about_point: Any = None, about_edge: Any = None
) -> Mobject:
    """Apply a function of complex numbers to each point."""

    def results(points: Iterable[Any]) -> Iterator[Any]:
        for x, y, z in points:
            result = function(complex(x, y))
            yield result.real, result.imag, z

    return self.apply_function(_OfComplex(results), about_point=about_point, about_edge=about_edge)


def _function_at_time_t(self: Homotopy, t: float) -> _Homotopy:
    """Return the function of points at a time."""
    return _Homotopy(self, t)


def _flow(self: PhaseFlow, alpha: float) -> None:
    """Move each point by the time since the last frame."""
    if hasattr(self, "last_alpha"):
        dt = self.virtual_time * (self.rate_func(alpha) - self.rate_func(self.last_alpha))
        self.mobject.apply_function(_Step(self, dt))
    self.last_alpha = alpha


def _at_all(function: Any, points: Any) -> Any:
    """Return what `numpy.apply_along_axis` does for rows."""
    if (
        type(points) is not np.ndarray
        or points.dtype != _FLOAT
        or points.shape[1:] != _SHAPE
        or not len(points)
    ):
        return np.apply_along_axis(function, 1, points)
    if type(function) in (_Homotopy, _OfComplex, _Step):
        return function.at_all(points)
    return _joined(map(function, points), points, np.asanyarray)


def _coordinates(points: _Points) -> tuple[Iterator[Any], ...]:
    """Return one iterator of all numbers, for each of the three of a point."""
    return (iter(points.ravel()),) * 3


def _joined(results: Iterator[Any], points: _Points, convert: Callable[[Any], Any]) -> Any:
    """Return the array of a function's results."""
    first = next(results)
    if type(first) is tuple:
        rows, others = _tuples(chain((first,), results), points)
        if others is None and _are_points(rows):
            return np.fromiter(chain.from_iterable(rows), _FLOAT, points.size).reshape(points.shape)
    else:
        rows, others = _rows(chain((first,), results), points)
        if others is None:
            return rows
    return _by_numpy(chain(rows, others or ()), points, convert)


def _rows(results: Iterator[Any], points: _Points) -> tuple[Any, Iterator[Any] | None]:
    """Collect arrays, and return the results from the first one on that is none of three numbers."""
    rows = np.empty(points.shape)
    at = -1
    for at, result in enumerate(results):
        # Copied immediately: functions may change what they have returned.
        if type(result) is not np.ndarray or result.dtype != _FLOAT or result.shape != _SHAPE:
            return rows[:at], chain((result,), results)
        rows[at] = result
    _check(at + 1, points)
    return rows, None


def _tuples(results: Iterator[Any], points: _Points) -> tuple[list[Any], Iterator[Any] | None]:
    rows: list[Any] = []
    for result in results:
        if type(result) is not tuple:
            return rows, chain((result,), results)
        rows.append(result)
    _check(len(rows), points)
    return rows, None


def _check(count: int, points: _Points) -> None:
    if count < len(points):
        raise StopIteration  # by the function, which ended the iteration over its results


def _are_points(rows: list[Any]) -> bool:
    return set(map(len, rows)) == {3} and set(map(type, chain.from_iterable(rows))) <= _FLOATS


def _by_numpy(results: Iterator[Any], points: _Points, convert: Callable[[Any], Any]) -> Any:
    return np.apply_along_axis(lambda _: convert(next(results)), 1, points)


def _scale_handles(self: VMobject, factor: float) -> VMobject:
    """Change the distances of handles from their ends."""
    members = [member for member in self.family_members_with_points() if len(member.points) >= _ON_CURVE]
    if self.n_points_per_cubic_curve != _ON_CURVE or not all(map(_has_curves, members)):
        return _manims_scale(self, factor)
    for member in members:
        points = np.empty(member.points.shape)
        curves, scaled = member.points.reshape(-1, 4, 3), points.reshape(-1, 4, 3)
        scaled[:] = curves
        ends = curves[:, ::3]
        scaled[:, 1:3] = ends + factor * (curves[:, 1:3] - ends)
        member.points = points
    return self


def _has_curves(mobject: Any) -> bool:
    points, kind = mobject.points, type(mobject)
    return (
        type(points) is np.ndarray
        and points.dtype == _FLOAT
        and points.shape[1:] == _SHAPE
        and len(points) % _ON_CURVE == 0
        and all(getattr(kind, name, None) is own for name, own in _OWN.items())
        and mobject.n_points_per_cubic_curve == _ON_CURVE
        and mobject.dim == 3
    )
