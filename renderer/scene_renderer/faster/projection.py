"""Projects, shades and sorts mobjects in three dimensions together, with Manim's results for each of them.

Mobjects with equal numbers of points, such as the faces of a surface, are computed as one array. For each of
them the same product of matrices is computed as in Manim, and all else in Manim's order, so that numbers are
rounded alike.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from math import inf
from types import CodeType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from manim import UP, Mobject, ThreeDAxes, VMobject
from manim.camera.camera import Camera
from manim.camera.three_d_camera import ThreeDCamera
from manim.utils.space_ops import get_unit_normal

from ..replacing import replace

_Floats = npt.NDArray[np.float64]
_Group = TypeVar("_Group")

_GRADIENT = "get_gradient_start_and_end_points"
_manims_gradient = getattr(VMobject, _GRADIENT)
_POINTS_PER_CURVE = 4
_PARALLEL = 1e-6
_BEHIND_CAMERA = 10**6
_CENTRE_METHODS = (
    "get_anchors",
    "get_center",
    "get_critical_point",
    "get_end_anchors",
    "get_extremum_along_dim",
    "get_family",
    "get_points_defining_boundary",
    "get_start_anchors",
    "get_z_index_reference_point",
)
_own = {name: getattr(VMobject, name) for name in _CENTRE_METHODS}


class _Kind(Enum):
    """How a mobject is shown."""

    FIXED = 1
    PLAIN = 2
    SHADED = 3


def _nested(function: Any, *names: str) -> CodeType:
    """Return the code of a function inside another."""
    code: CodeType = function.__code__
    for name in names:
        (code,) = (item for item in code.co_consts if isinstance(item, CodeType) and item.co_name == name)
    return code


# Each part of an axis is coloured from one end of the axis to the other.
_AXIS_CODE = _nested(ThreeDAxes._set_axis_shading, "make_func", "<lambda>")


def sort_directly() -> None:
    """Replace the order in which Manim's and the scene's cameras draw mobjects in three dimensions.

    To be called when other methods of mobjects have been replaced.
    """
    _own.update({name: getattr(VMobject, name) for name in _CENTRE_METHODS})
    replace(ThreeDCamera, get_mobjects_to_display=_get_mobjects_to_display)


def project(camera: Any, vmobjects: list[VMobject]) -> list[Any]:
    """Return the items of `scenepress_native.draw` for a camera with Manim's own methods."""
    items: list[Any] = [(vmobject,) for vmobject in vmobjects]
    if camera.exponential_projection:
        return items
    shades = bool(camera.should_apply_shading)

    def kind(member: VMobject) -> _Kind | None:
        is_shaded = shades and bool(member.shade_in_3d)
        if member in camera.fixed_in_frame_mobjects:
            return None if is_shaded else _Kind.FIXED
        if member in camera.fixed_orientation_mobjects:
            return None
        return _Kind.SHADED if is_shaded else _Kind.PLAIN

    for found, places, points in _alike(vmobjects, kind):
        members = [vmobjects[place] for place in places]
        if found is _Kind.SHADED:
            computed = _shaded(camera, members, points)
        else:
            shown = points if found is _Kind.FIXED else _project(camera, points)
            computed = ((own, None, None, None, None) for own in shown)
        for place, member, parts in zip(places, members, computed, strict=False):
            items[place] = (member, *parts)
    return items


def _shaded(camera: Any, members: list[VMobject], points: _Floats) -> Iterable[tuple[Any, ...]]:
    """Return points, ends of the gradient and colours of mobjects; none if Manim has to compute them."""
    end = (points.shape[1] - 1) // 6 * 3
    light = _light(points, end, camera.light_source.points[0])
    ends = _ends(members, points.take([0, end], axis=1))
    if light is None or ends is None:
        return []
    paints = [_colours(members, name, light) for name in ("fill", "background_stroke", "stroke")]
    if any(paint is None for paint in paints):
        return []
    return zip(_project(camera, points), _project(camera, ends), *paints, strict=True)


def _alike(
    mobjects: Iterable[Mobject], kind_of: Callable[[Any], _Group | None]
) -> Iterator[tuple[_Group, list[int], _Floats]]:
    """Yield mobjects of one kind and number of points: the kind, their places and their points."""
    groups: dict[tuple[_Group, int], list[int]] = defaultdict(list)
    arrays: list[Any] = []
    for place, mobject in enumerate(mobjects):
        points: Any = mobject.points
        arrays.append(points)
        if type(points) is np.ndarray and points.dtype == np.float64 and points.ndim == 2:
            count, dimensions = points.shape
            if count > 1 and dimensions == 3 and (kind := kind_of(mobject)) is not None:
                groups[kind, count].append(place)
    for (kind, _), places in groups.items():
        stacked = np.array([arrays[place] for place in places])
        if np.isfinite(stacked).all():
            yield kind, places, stacked


def _project(camera: Any, points: _Floats) -> _Floats:
    """Do what the camera's `project_points` does for each item of an array."""
    distance = camera.get_focal_distance()
    projected: _Floats = np.matmul(points - camera.frame_center, camera.get_rotation_matrix().T)
    in_front = distance - projected[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = distance / in_front
        factor[in_front < 0] = _BEHIND_CAMERA
        projected[..., :2] *= (factor * camera.get_zoom())[..., np.newaxis]
    return projected


def _light(points: _Floats, end: int, source: _Floats) -> _Floats | None:
    """Return what is added to the colours at both ends; None if it is not computed here."""
    last = points.shape[1] - _POINTS_PER_CURVE
    if points.shape[1] % _POINTS_PER_CURVE:
        return None
    corners = points.take([0, end], axis=1)
    if last == 0:
        normals = np.tile(UP, (*corners.shape[:2], 1))
    else:
        after = points.take([3, end + 3 if end < last + 1 else 3], axis=1)
        before = points.take([last, end - 3 if end > 2 else last], axis=1)
        normals = _unit_normals(after - corners, before - corners)
    to_light = source - corners
    lengths = np.sqrt(np.vecdot(to_light, to_light))
    if not (lengths > 0).all():
        return None
    to_light /= lengths[..., np.newaxis]
    cosines = np.vecdot(normals, to_light)
    # NumPy rounds powers of arrays differently from powers of single numbers.
    cubes = np.array([cosine**3.0 for cosine in cosines.ravel().tolist()])
    light: _Floats = 0.5 * cubes.reshape(cosines.shape)
    light[light < 0] *= 0.5
    return light


def _unit_normals(one: _Floats, other: _Floats) -> _Floats:
    """Do what `get_unit_normal` does for each pair of vectors."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x1, y1, z1 = np.moveaxis(one / np.abs(one).max(axis=-1, keepdims=True), -1, 0)
        x2, y2, z2 = np.moveaxis(other / np.abs(other).max(axis=-1, keepdims=True), -1, 0)
        normals: _Floats = np.stack([y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2], axis=-1)
        lengths = np.sqrt(np.vecdot(normals, normals))
        normals /= lengths[..., np.newaxis]
    for place in np.argwhere(~(lengths > _PARALLEL)):
        at = tuple(place)
        normals[at] = get_unit_normal(one[at], other[at])
    return normals


def _ends(members: list[Any], corners: _Floats) -> _Floats | None:
    """Return the ends of gradients: two corners, or for axes in three dimensions the ends of the axis."""
    known: dict[tuple[int, ...], Any] = {}
    for place, member in enumerate(members):
        if (method := vars(member).get(_GRADIENT)) is not None:
            if getattr(method, "__code__", None) is not _AXIS_CODE:
                return None
            axis = tuple(id(cell.cell_contents) for cell in method.__closure__)
            if axis not in known:
                known[axis] = method()
            corners[place] = known[axis]
        elif getattr(type(member), _GRADIENT) is not _manims_gradient:
            return None
    return corners


def _colours(members: list[Any], name: str, light: _Floats) -> Iterable[_Floats | None] | None:
    """Return both colours of each mobject; None if one of them has no ordinary colours."""
    if name != "fill" and not any(getattr(member, f"{name}_width", 0) for member in members):
        return [None] * len(members)  # no line is drawn
    rgbas: list[Any] = [getattr(member, f"{name}_rgbas", None) for member in members]
    if not all(map(_are_colours, rgbas)):
        return None
    if all(len(rgba) == 1 for rgba in rgbas):
        shaded: _Floats = np.concatenate(rgbas)[:, np.newaxis].repeat(2, axis=1)
    else:
        shaded = np.array([rgba[:2] if len(rgba) > 1 else rgba.repeat(2, axis=0) for rgba in rgbas])
    shaded[..., :3] += light[..., np.newaxis]
    return shaded


def _are_colours(rgbas: Any) -> bool:
    return (
        type(rgbas) is np.ndarray
        and rgbas.dtype == np.float64
        and rgbas.ndim == 2
        and len(rgbas) > 0
        and rgbas.shape[1] == 4
    )


def _get_mobjects_to_display(self: ThreeDCamera, *args: Any, **kwargs: Any) -> list[Mobject]:
    """Return mobjects in the order in which they are drawn: far ones first, those without depth last."""
    mobjects = Camera.get_mobjects_to_display(self, *args, **kwargs)
    rotation = self.get_rotation_matrix().T
    kinds: dict[type, bool] = {}

    def kind(mobject: Any) -> bool | None:
        is_ordinary = kinds.get(type(mobject))
        if is_ordinary is None:
            is_ordinary = kinds[type(mobject)] = _has_own_centre(type(mobject))
        if not is_ordinary or not mobject.shade_in_3d or mobject.submobjects:
            return None
        return None if mobject.n_points_per_cubic_curve != 4 or hasattr(mobject, "z_index_group") else True

    depths: list[float | None] = [None] * len(mobjects)
    for _, places, points in _alike(mobjects, kind):
        if points.shape[1] % _POINTS_PER_CURVE:
            continue
        anchors = np.concatenate([points[:, ::_POINTS_PER_CURVE], points[:, 3::_POINTS_PER_CURVE]], axis=1)
        centres = (anchors.min(axis=1) + anchors.max(axis=1)) / 2
        for place, centre in zip(places, centres, strict=True):
            depths[place] = np.dot(centre, rotation)[2]
    known = [
        _depth(mobject, rotation) if depth is None else depth
        for mobject, depth in zip(mobjects, depths, strict=True)
    ]
    return [mobjects[place] for place in sorted(range(len(mobjects)), key=known.__getitem__)]


def _has_own_centre(kind: type) -> bool:
    """Whether mobjects of a class compute their centre as Manim's do."""
    return all(getattr(kind, name, None) is own for name, own in _own.items())


def _depth(mobject: Any, rotation: Any) -> float:
    if not (hasattr(mobject, "shade_in_3d") and mobject.shade_in_3d):
        return inf
    depth: float = np.dot(mobject.get_z_index_reference_point(), rotation)[2]
    return depth
