"""Draws mobjects with fewer steps in Python than Manim, with the same calls of Cairo.

If a scene has changed a camera or a mobject, for example by methods of its own, Manim draws it.
"""

from collections.abc import Iterable
from typing import Any

from manim import VMobject
from manim.camera.camera import CAP_STYLE_MAP, LINE_JOIN_MAP, Camera
from manim.camera.three_d_camera import ThreeDCamera

import scenepress_native

from ..replacing import replace
from . import projection

_manims_own = Camera.display_multiple_non_background_colored_vmobjects
_manims_type = Camera.type_or_raise
_TYPES_MAX = 1000
_TYPES: dict[type, Any] = {}
_COMMON = {
    name: getattr(Camera, name)
    for name in (
        "apply_fill",
        "apply_stroke",
        "display_vectorized",
        "set_cairo_context_color",
        "set_cairo_context_path",
    )
}
# Methods of cameras for which mobjects are drawn here.
FLAT = _COMMON | {
    name: getattr(Camera, name)
    for name in ("get_fill_rgbas", "get_stroke_rgbas", "transform_points_pre_display")
}
SOLID = _COMMON | {
    name: getattr(ThreeDCamera, name)
    for name in (
        "get_fill_rgbas",
        "get_rotation_matrix",
        "get_stroke_rgbas",
        "modified_rgbas",
        "project_points",
        "transform_points_pre_display",
    )
}

scenepress_native.prepare(
    VMobject,
    tuple((kind, int(number)) for kind, number in LINE_JOIN_MAP.items()),
    tuple((kind, int(number)) for kind, number in CAP_STYLE_MAP.items()),
)


def draw_directly() -> None:
    """Replace the drawing of Manim's and the scene's cameras."""
    replace(Camera, display_multiple_non_background_colored_vmobjects=_display, type_or_raise=_type_or_raise)


def _display(self: Camera, vmobjects: Iterable[VMobject], pixel_array: Any) -> None:
    """Draw mobjects that are not coloured by an image."""
    items: Iterable[Any] = vmobjects
    if has_methods(self, SOLID):
        items = projection.project(self, list(vmobjects))
    elif not has_methods(self, FLAT):
        _manims_own(self, vmobjects, pixel_array)
        return
    context = self.get_cairo_context(pixel_array)
    ratio = self.frame_width / self.frame_width
    scenepress_native.draw(self, context, items, self.cairo_line_width_multiple, ratio)


def _type_or_raise(self: Camera, mobject: Any) -> Any:
    """Return what a mobject is drawn as; Manim makes a new table of methods for each."""
    kind = _TYPES.get(type(mobject))
    known: Any = vars(self).get("display_funcs")
    if kind is None or known is None or getattr(known.get(VMobject), "__self__", None) is not self:
        kind = _manims_type(self, mobject)
        if len(_TYPES) < _TYPES_MAX:
            _TYPES[type(mobject)] = kind
    return kind


def has_methods(camera: Camera, methods: dict[str, Any]) -> bool:
    """Whether a camera has these methods and no others of their names."""
    return all(getattr(getattr(camera, name, None), "__func__", None) is own for name, own in methods.items())
