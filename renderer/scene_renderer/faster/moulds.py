"""Moulds: mobjects that Manim has made of an SVG document, which are copied for other characters.

TeX and texts use them: making each character would take longer.
"""

import io
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np
from manim import ManimColor, Mobject, RendererType, SVGMobject, VGroup, VMobject, config
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from svgelements import SVG, Matrix, Path

from .svg_paths import Outline

Shapes = tuple[list[VMobject], dict[str, VGroup]]
"""What `get_mobjects_from` returns: the shapes, and groups of them by their names."""

_manims_methods = {
    name: getattr(SVGMobject, name)
    for name in (
        "modify_xml_tree",
        "generate_config_style_dict",
        "get_mobjects_from",
        "get_mob_from_shape_element",
        "handle_transform",
        "apply_style_to_mobject",
        "path_to_mobject",
        "rect_to_mobject",
    )
}


class NotSupportedError(Exception):
    """The file or the classes are not as expected."""


def are_manims(image: SVGMobject) -> bool:
    """Whether the methods concerned are Manim's."""
    kind = type(image)
    return config.renderer == RendererType.CAIRO and all(
        getattr(kind, name) is method for name, method in _manims_methods.items()
    )


def style_of(image: SVGMobject) -> tuple[object, ...]:
    """Return all that the mobjects of an image depend on besides its document. Error: `NotSupportedError`."""
    # Defaults that a scene sets replace initialisers.
    made_by: tuple[Callable[..., Any], ...] = tuple(
        kind.__init__ for kind in (VMobjectFromSVGPath, VGroup, VMobject, Mobject)
    )
    style = (
        *image.generate_config_style_dict().items(),
        *image.path_string_config.items(),
        *made_by,
        VMobjectFromSVGPath.generate_points,
    )
    try:
        hash(style)
    except TypeError:
        raise NotSupportedError("settings that can't be compared") from None
    return style


def made_by_manim(image: SVGMobject, document: str) -> list[Any]:
    """Let Manim make the first mobject of a document twice."""
    made = []
    for _ in range(2):
        file = io.BytesIO()
        image.modify_xml_tree(ElementTree.ElementTree(ElementTree.fromstring(document))).write(file)
        file.seek(0)
        made.append(image.get_mobjects_from(SVG.parse(file))[0][0])
    path = made[0].path_obj
    if not isinstance(path, Path) or "_outline" not in path.__dict__:
        raise NotSupportedError("an already evaluated path")
    return made


class Mould:
    """Copies an unmodified mobject."""

    def __init__(self, one: Mobject, other: Mobject) -> None:
        """Find by two equal mobjects which of their attributes are shared."""
        self._kind = type(one)
        self._attributes = dict(one.__dict__)
        self._arrays: list[tuple[str, np.ndarray[Any, Any]]] = []
        self._lists: list[str] = []
        for name, value in one.__dict__.items():
            if name in ("points", "path_obj") or value is other.__dict__[name]:
                continue
            if isinstance(value, np.ndarray):
                self._arrays.append((name, value))
            elif type(value) is list and not value:
                self._lists.append(name)
            elif not isinstance(value, int | float | str | ManimColor):  # which are immutable
                raise NotSupportedError(name)

    def copy(self) -> Any:
        """Return a mobject without points of its own."""
        attributes = self._attributes.copy()
        for name, array in self._arrays:
            attributes[name] = array.copy()
        for name in self._lists:
            attributes[name] = []
        mobject = self._kind.__new__(self._kind)
        mobject.__dict__ = attributes
        return mobject


def of_groups() -> Mould:
    """Return a mould of groups."""
    return Mould(VGroup(), VGroup())


def make_group(mould: Mould) -> VGroup:
    """Return a group without members."""
    group: VGroup = mould.copy()
    group.points = np.zeros((0, group.dim))
    return group


def copy_path(path: Path, values: dict[str, Any], outline: Outline, matrix: Matrix) -> Path:
    """Return a path with another outline."""
    copy = _copy(path)
    copy.__dict__.update(
        values=values,
        fill=_copy(path.fill),
        stroke=_copy(path.stroke),
        transform=Matrix(),
        _segments=[],
        _outline=outline,
        _matrix=matrix,
    )
    return copy


def _copy(value: Any) -> Any:
    """Return a copy of an object that consists of numbers and strings."""
    copy = value.__new__(type(value))
    copy.__dict__.update(value.__dict__)
    return copy
