"""Makes the mobjects of a TeX page from its SVG file faster than svgelements and Manim, with equal results.

It reads what dvisvgm writes for characters, lines and Manim's groups. Manim and svgelements make one mobject
for each style; the others are copies of it with other points. Everything else is left to them.
"""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
import svgelements
from manim import ManimColor, Mobject, Rectangle, RendererType, SVGMobject, VGroup, VMobject, config
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from svgelements import SVG, Matrix, Path

from . import svg_paths
from .svg_paths import Outline

_HEADER = re.compile(
    r"<\?xml version='1\.0' encoding='UTF-8'\?>\n(?:<!--[^-]*-->\n)?"
    r"<svg version='1\.1' xmlns='http://www\.w3\.org/2000/svg' xmlns:xlink='http://www\.w3\.org/1999/xlink' "
    r"width='[^'<>&]*' height='[^'<>&]*' viewBox='[^'<>&]*'>\s*"
)
_NUMBER = r"'(-?(?:\d+\.?\d*|\.\d+))'"
_ELEMENT = re.compile(
    r"(?:<path id='([-\w]+)' d='([-. \w]*)'/>"
    rf"|<use x={_NUMBER} y={_NUMBER} xlink:href='#([-\w]+)'/>"
    rf"|<rect x={_NUMBER} y={_NUMBER} height={_NUMBER} width={_NUMBER}/>"
    r"|<(g)(?: id='([-\w]+)')?>|<(/g)>|<(/?defs)>)\s*",
    re.ASCII,
)
_PATH, _USE_X, _USE_Y, _USE, _RECT, _GROUP, _GROUP_NAME, _GROUP_END, _DEFS = 1, 3, 4, 5, 6, 10, 11, 12, 13
_END = "</svg>"
_OUTER_GROUPS = 4
_PAGES_MAX = 64
_XLINK = "{http://www.w3.org/1999/xlink}href"
_SIZE = {"ppi": svgelements.DEFAULT_PPI, "width": 1000, "height": 1000}

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


class _NotSupportedError(Exception):
    """The file or the classes are not as expected."""


def mobjects(image: SVGMobject, source: bytes) -> Shapes | None:
    """Return the shapes and groups of a page, as `get_mobjects_from` does; None if Manim must make them."""
    kind = type(image)
    if config.renderer != RendererType.CAIRO or any(
        getattr(kind, name) is not method for name, method in _manims_methods.items()
    ):
        return None
    try:
        page = _page_of(source.decode("ascii"))
        return None if page is None else _make(page, _moulds_for(image), image)
    except (_NotSupportedError, UnicodeDecodeError):
        return None


@dataclass(frozen=True)
class _Character:
    name: str
    outline: Outline
    matrix: Matrix
    points: np.ndarray[Any, Any]

    @staticmethod
    def at(place: tuple[float, float], name: str, outline: Outline) -> "_Character":
        matrix = Matrix(1.0, 0.0, 0.0, 1.0, *place) if any(place) else Matrix()
        points = svg_paths.points_of(outline, matrix)
        if points is None or len(points) == 0:
            raise _NotSupportedError("an outline")
        # Manim applies the remaining transformation, which is none; zeros lose their sign.
        return _Character(name, outline, matrix, points + 0.0)


@dataclass(frozen=True)
class _Page:
    """The parts of a page, which are the same in all styles."""

    groups: dict[str, None]
    """The names of the groups, in Manim's order."""
    contents: list[tuple[tuple[str, ...], _Character | dict[str, str]]]
    """Characters and lines, which are given by their attributes, each with the groups that it is in."""


class _Mould:
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
                raise _NotSupportedError(name)

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


@dataclass
class _Moulds:
    """The mobjects of characters and groups in one style."""

    character: _Mould
    path: Path
    group: _Mould
    values: dict[str, Any]

    def make_character(self, what: _Character) -> VMobject:
        mobject: VMobjectFromSVGPath = self.character.copy()
        mobject.path_obj = self._path_object(what.name, what.outline, what.matrix)
        mobject.points = what.points.copy()
        return mobject

    def _path_object(self, name: str, outline: Outline, matrix: Matrix) -> Path:
        path = Path.__new__(Path)
        path.__dict__.update(self.path.__dict__)
        values = path.__dict__["values"] = self.values.copy()
        values[_XLINK] = f"#{name}"
        if matrix.e or matrix.f:
            values["transform"] = f"translate({matrix.e}, {matrix.f})"
        values["id"] = path.__dict__["id"] = name
        values["d"] = outline.data
        values["attributes"] = {"id": name, "d": outline.data, "tag": "path"}
        for colour in ("fill", "stroke"):
            path.__dict__[colour] = svgelements.Color(getattr(self.path, colour))
        path.__dict__.update(transform=Matrix(), _segments=[], _outline=outline, _matrix=matrix)
        return path

    def make_group(self) -> VGroup:
        group: VGroup = self.group.copy()
        group.points = np.zeros((0, group.dim))
        return group


_known_moulds: dict[tuple[object, ...], _Moulds] = {}


def _moulds_for(image: SVGMobject) -> _Moulds:
    # Defaults that a scene sets replace initialisers.
    made_by: tuple[Callable[..., Any], ...] = tuple(
        kind.__init__ for kind in (VMobjectFromSVGPath, VGroup, VMobject, Mobject)
    )
    key = (
        *image.generate_config_style_dict().items(),
        *image.path_string_config.items(),
        *made_by,
        VMobjectFromSVGPath.generate_points,
    )
    try:
        known = _known_moulds.get(key)
    except TypeError:
        raise _NotSupportedError("settings that can't be compared") from None
    if known is None:
        known = _known_moulds[key] = _make_moulds(image)
    return known


_SAMPLE = """<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>
<defs><path id='g0-1' d='M0 0L1 0L1 1Z'/></defs>
<g id='page1'><use x='1' y='1' xlink:href='#g0-1'/></g></svg>"""


def _make_moulds(image: SVGMobject) -> _Moulds:
    """Let Manim make two characters and groups."""
    characters = []
    for _ in range(2):
        document = io.BytesIO()
        image.modify_xml_tree(ElementTree.ElementTree(ElementTree.fromstring(_SAMPLE))).write(document)
        document.seek(0)
        characters.append(image.get_mobjects_from(SVG.parse(document))[0][0])
    path = characters[0].path_obj
    if not isinstance(path, Path) or "_outline" not in path.__dict__:
        raise _NotSupportedError("an already evaluated path")
    values = {name: value for name, value in path.values.items() if name != "transform"}
    return _Moulds(_Mould(*characters), path, _Mould(VGroup(), VGroup()), values)


def _make(page: _Page, moulds: _Moulds, image: SVGMobject) -> Shapes:
    groups = {name: moulds.make_group() for name in page.groups}
    shapes: list[VMobject] = []
    for parents, what in page.contents:
        shape = (
            moulds.make_character(what) if isinstance(what, _Character) else _make_line(what, moulds, image)
        )
        shapes.append(shape)
        for name in parents:
            groups[name].submobjects.append(shape)
    return shapes, groups


def _make_line(line: dict[str, str], moulds: _Moulds, image: SVGMobject) -> Rectangle:
    """Let Manim make a rectangle from what svgelements would."""
    values = {
        name: value
        for name, value in moulds.values.items()
        if name not in (_XLINK, "id", "d", "tag", "attributes", "pathd_loaded")
    }
    values |= line
    values |= {"tag": "rect", "attributes": {**line, "tag": "rect"}}
    shape = svgelements.Rect(values)
    shape.render(**_SIZE)
    shape.reify()
    mobject = image.get_mob_from_shape_element(shape)
    if not isinstance(mobject, Rectangle):
        raise _NotSupportedError("an empty line")
    return mobject


@lru_cache(_PAGES_MAX)
def _page_of(document: str) -> _Page | None:
    try:
        return _read(document)
    except _NotSupportedError:
        return None


def _read(document: str) -> _Page:
    header = _HEADER.match(document)
    if header is None:
        raise _NotSupportedError("the header")
    at = header.end()
    outlines: dict[str, Outline] = {}
    # The names that Manim gives: the document, and its default style in two groups.
    names = ["root", "numbered_group_0", "numbered_group_1", "numbered_group_2"]
    numbered = 3
    page = _Page(dict.fromkeys(names), [])
    in_definitions = False
    while not document.startswith(_END, at):
        element = _ELEMENT.match(document, at)
        if element is None:
            raise _NotSupportedError("an element")
        at = element.end()
        kind = element.lastindex
        if in_definitions and kind not in (_PATH + 1, _DEFS):
            raise _NotSupportedError("a definition")
        if kind == _PATH + 1:
            outline = svg_paths.outline_of(element[_PATH + 1])
            if outline is None or not in_definitions:
                raise _NotSupportedError("a path")
            outlines[element[_PATH]] = outline
        elif kind == _USE:
            name = element[_USE]
            if name not in outlines:
                raise _NotSupportedError("a character")
            parent = f"numbered_group_{numbered}"
            numbered += 1
            page.groups[parent] = page.groups[name] = None
            place = float(element[_USE_X]), float(element[_USE_Y])
            page.contents.append(((*names, parent), _Character.at(place, name, outlines[name])))
        elif kind == _RECT + 3:
            line = dict(
                zip(("x", "y", "height", "width"), element.group(*range(_RECT, _RECT + 4)), strict=True)
            )
            if not float(line["height"]) or not float(line["width"]):
                raise _NotSupportedError("a line without size")
            page.contents.append((tuple(names), line))
            page.groups[f"numbered_group_{numbered}"] = None
            numbered += 1
        elif kind in (_GROUP, _GROUP_NAME):
            name = element[_GROUP_NAME]
            if name is None:
                name = f"numbered_group_{numbered}"
                numbered += 1
            elif name in page.groups or name in outlines:
                raise _NotSupportedError("a name that occurs twice")
            page.groups[name] = None
            names.append(name)
        elif kind == _GROUP_END:
            if len(names) == _OUTER_GROUPS:
                raise _NotSupportedError("an end without a beginning")
            names.pop()
        else:
            in_definitions = element[_DEFS] == "defs"
    if len(names) != _OUTER_GROUPS or document[at:].strip() != _END:
        raise _NotSupportedError("the end")
    return page
