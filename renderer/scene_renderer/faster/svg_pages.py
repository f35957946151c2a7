"""Makes the mobjects of a TeX page from its SVG file faster than svgelements and Manim, with equal results.

It reads what dvisvgm writes for characters, lines and Manim's groups. Manim and svgelements make one mobject
for each style; the others are copies of it with other points. Everything else is left to them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import svgelements
from manim import Rectangle, SVGMobject, VMobject
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from svgelements import Matrix, Path

from . import moulds, svg_paths
from .moulds import Mould, NotSupportedError, Shapes
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


def mobjects(image: SVGMobject, source: bytes) -> Shapes | None:
    """Return the shapes and groups of a page, as `get_mobjects_from` does; None if Manim must make them."""
    if not moulds.are_manims(image):
        return None
    try:
        page = _page_of(source.decode("ascii"))
        return None if page is None else _make(page, _moulds_for(image), image)
    except (NotSupportedError, UnicodeDecodeError):
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
            raise NotSupportedError("an outline")
        # Manim applies the remaining transformation, which is none; zeros lose their sign.
        return _Character(name, outline, matrix, points + 0.0)


@dataclass(frozen=True)
class _Page:
    """The parts of a page, which are the same in all styles."""

    groups: dict[str, None]
    """The names of the groups, in Manim's order."""
    contents: list[tuple[tuple[str, ...], _Character | dict[str, str]]]
    """Characters and lines, which are given by their attributes, each with the groups that it is in."""


@dataclass
class _Moulds:
    """The mobjects of characters and groups in one style."""

    character: Mould
    path: Path
    group: Mould
    values: dict[str, Any]

    def make_character(self, what: _Character) -> VMobject:
        mobject: VMobjectFromSVGPath = self.character.copy()
        mobject.path_obj = self._path_object(what.name, what.outline, what.matrix)
        mobject.points = what.points.copy()
        return mobject

    def _path_object(self, name: str, outline: Outline, matrix: Matrix) -> Path:
        values = self.values.copy()
        values[_XLINK] = f"#{name}"
        if matrix.e or matrix.f:
            values["transform"] = f"translate({matrix.e}, {matrix.f})"
        values["id"] = name
        values["d"] = outline.data
        values["attributes"] = {"id": name, "d": outline.data, "tag": "path"}
        path = moulds.copy_path(self.path, values, outline, matrix)
        path.__dict__["id"] = name
        return path


_known_moulds: dict[tuple[object, ...], _Moulds] = {}


def _moulds_for(image: SVGMobject) -> _Moulds:
    style = moulds.style_of(image)
    known = _known_moulds.get(style)
    if known is None:
        known = _known_moulds[style] = _make_moulds(image)
    return known


_SAMPLE = """<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>
<defs><path id='g0-1' d='M0 0L1 0L1 1Z'/></defs>
<g id='page1'><use x='1' y='1' xlink:href='#g0-1'/></g></svg>"""


def _make_moulds(image: SVGMobject) -> _Moulds:
    """Let Manim make two characters and groups."""
    characters = moulds.made_by_manim(image, _SAMPLE)
    path = characters[0].path_obj
    values = {name: value for name, value in path.values.items() if name != "transform"}
    return _Moulds(Mould(*characters), path, moulds.of_groups(), values)


def _make(page: _Page, style: _Moulds, image: SVGMobject) -> Shapes:
    groups = {name: moulds.make_group(style.group) for name in page.groups}
    shapes: list[VMobject] = []
    for parents, what in page.contents:
        shape = style.make_character(what) if isinstance(what, _Character) else _make_line(what, style, image)
        shapes.append(shape)
        for name in parents:
            groups[name].submobjects.append(shape)
    return shapes, groups


def _make_line(line: dict[str, str], style: _Moulds, image: SVGMobject) -> Rectangle:
    """Let Manim make a rectangle from what svgelements would."""
    values = {
        name: value
        for name, value in style.values.items()
        if name not in (_XLINK, "id", "d", "tag", "attributes", "pathd_loaded")
    }
    values |= line
    values |= {"tag": "rect", "attributes": {**line, "tag": "rect"}}
    shape = svgelements.Rect(values)
    shape.render(**_SIZE)
    shape.reify()
    mobject = image.get_mob_from_shape_element(shape)
    if not isinstance(mobject, Rectangle):
        raise NotSupportedError("an empty line")
    return mobject


@lru_cache(_PAGES_MAX)
def _page_of(document: str) -> _Page | None:
    try:
        return _read(document)
    except NotSupportedError:
        return None


def _read(document: str) -> _Page:
    header = _HEADER.match(document)
    if header is None:
        raise NotSupportedError("the header")
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
            raise NotSupportedError("an element")
        at = element.end()
        kind = element.lastindex
        if in_definitions and kind not in (_PATH + 1, _DEFS):
            raise NotSupportedError("a definition")
        if kind == _PATH + 1:
            outline = svg_paths.outline_of(element[_PATH + 1])
            if outline is None or not in_definitions:
                raise NotSupportedError("a path")
            outlines[element[_PATH]] = outline
        elif kind == _USE:
            name = element[_USE]
            if name not in outlines:
                raise NotSupportedError("a character")
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
                raise NotSupportedError("a line without size")
            page.contents.append((tuple(names), line))
            page.groups[f"numbered_group_{numbered}"] = None
            numbered += 1
        elif kind in (_GROUP, _GROUP_NAME):
            name = element[_GROUP_NAME]
            if name is None:
                name = f"numbered_group_{numbered}"
                numbered += 1
            elif name in page.groups or name in outlines:
                raise NotSupportedError("a name that occurs twice")
            page.groups[name] = None
            names.append(name)
        elif kind == _GROUP_END:
            if len(names) == _OUTER_GROUPS:
                raise NotSupportedError("an end without a beginning")
            names.pop()
        else:
            in_definitions = element[_DEFS] == "defs"
    if len(names) != _OUTER_GROUPS or document[at:].strip() != _END:
        raise NotSupportedError("the end")
    return page
