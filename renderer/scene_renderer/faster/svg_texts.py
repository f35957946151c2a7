"""Makes the mobjects of a text from Pango's SVG file faster than svgelements and Manim, with equal results.

It reads what Cairo writes for lines of characters. Manim and svgelements make two characters of each style;
the others are copies of them with other points. Everything else is left to them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from typing import Any

import numpy as np
from manim import SVGMobject, VGroup, VMobject
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from svgelements import Matrix, Path

from . import moulds, svg_paths
from .moulds import Mould, NotSupportedError, Shapes
from .svg_paths import Outline

_NUMBER = r"-?\d+(?:\.\d+)?"
_START = re.compile(r'<\?xml version="1\.0" encoding="UTF-8"\?>\n<svg [^<>]*>\n<defs>\n<g>\n')
# By Cairo 1.16 and from 1.18 on.
_GLYPHS = (
    re.compile(
        r'<symbol overflow="visible" id="(glyph\d+-\d+)">\n<path style="stroke:none;" d="([-. \w]*)"/>\n'
        r"</symbol>\n",
        re.ASCII,
    ),
    # A space is empty.
    re.compile(r'<g id="(glyph-\d+-\d+)">\n(?:<path d="([-. \w]*)"/>\n)?</g>\n', re.ASCII),
)
_BODY = re.compile(r'</g>\n</defs>\n(?:<g id="(surface\d+)">\n)?', re.ASCII)
_STYLE = r'style="fill:rgb\([\d.,%]+\);fill-opacity:[\d.]+;"|fill="rgb\([\d.,% ]+\)" fill-opacity="[\d.]+"'
_RUN = re.compile(
    rf'<g ({_STYLE})>\n((?: *<use xlink:href="#[-\w]+" x="{_NUMBER}" y="{_NUMBER}"/>\n)+)</g>\n', re.ASCII
)
_USE = re.compile(r'#([^"]*)" x="([^"]*)" y="([^"]*)"')
_TEXTS_MAX = 16
_STYLES_MAX = 1000
_XLINK = "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class _Character:
    name: str
    matrix: Matrix
    outline: Outline
    points: np.ndarray[Any, Any]
    """None are drawn of a space."""
    has_path: bool


@dataclass(frozen=True)
class _Text:
    surface: str | None
    """The name of the group around all, which old versions of Cairo write."""
    runs: list[tuple[str, list[_Character]]]
    """Characters by the attributes of their styles."""
    are_named: bool
    """Whether characters are in the groups with their names."""


def mobjects(image: SVGMobject, source: bytes) -> Shapes | None:
    """Return the shapes and groups of a text, as `get_mobjects_from` does; None if Manim must make them."""
    if not moulds.are_manims(image):
        return None
    try:
        text = _text_of(source.decode("ascii"))
        return None if text is None else _make(text, image)
    except (NotSupportedError, UnicodeDecodeError):
        return None


@lru_cache(_TEXTS_MAX)
def _text_of(document: str) -> _Text | None:
    try:
        return _read(document)
    except NotSupportedError:
        return None


def _read(document: str) -> _Text:
    start = _START.match(document)
    if start is None:
        raise NotSupportedError("the start")
    at = start.end()
    outlines: dict[str, Outline] = {}
    spaces: set[str] = set()
    glyph = next((glyph for glyph in _GLYPHS if glyph.match(document, at)), _GLYPHS[0])
    while found := glyph.match(document, at):
        at = found.end()
        name, data = found.groups()
        if data is None:
            spaces.add(name)
        outline = svg_paths.outline_of(data or "")
        if outline is None or name in outlines:
            raise NotSupportedError("an outline")
        outlines[name] = outline
    body = _BODY.match(document, at)
    if body is None:
        raise NotSupportedError("a definition")
    at = body.end()
    styles = []
    uses = []
    while found := _RUN.match(document, at):
        at = found.end()
        in_run = _USE.findall(found[2])
        styles.append((found[1], len(in_run)))
        uses += in_run
    if not styles or document[at:] != ("</g>\n</svg>\n" if body[1] else "</svg>\n"):
        raise NotSupportedError("an element")
    characters = iter(_characters(outlines, spaces, uses))
    runs = [(style, list(islice(characters, length))) for style, length in styles]
    return _Text(body[1], runs, glyph is _GLYPHS[1])


def _characters(
    outlines: dict[str, Outline], spaces: set[str], uses: list[tuple[str, str, str]]
) -> list[_Character]:
    try:
        shapes = [outlines[name] for name, _, _ in uses]
    except KeyError:
        raise NotSupportedError("a character") from None
    matrices = [Matrix(1.0, 0.0, 0.0, 1.0, float(x), float(y)) for _, x, y in uses]
    points: Any = svg_paths.points_of_moved(shapes, matrices) or list(
        map(svg_paths.points_of, shapes, matrices)
    )
    if any(each is None for each in points):
        raise NotSupportedError("an outline")
    # Manim applies the remaining transformation, which is none; zeros lose their sign.
    return [
        _Character(name, matrix, shape, each + 0.0, name not in spaces)
        for (name, _, _), matrix, shape, each in zip(uses, matrices, shapes, points, strict=True)
    ]


@dataclass(frozen=True)
class _Style:
    """The mobjects of characters and groups in one style."""

    character: Mould
    path: Path
    group: Mould

    def make_character(self, what: _Character) -> VMobject:
        mobject: VMobjectFromSVGPath = self.character.copy()
        data, matrix = what.outline.data, what.matrix
        values = self.path.values.copy()
        values["attributes"] = values["attributes"] | {"d": data}
        values[_XLINK] = f"#{what.name}"
        values["d"] = data
        if matrix.e or matrix.f:
            values["transform"] = f"translate({matrix.e}, {matrix.f})"
        else:
            del values["transform"]
        mobject.path_obj = moulds.copy_path(self.path, values, what.outline, matrix)
        mobject.points = what.points.copy()
        return mobject


_known_styles: dict[tuple[object, ...], _Style] = {}


def _style_of(image: SVGMobject, attributes: str, text: _Text) -> _Style:
    style = (*moulds.style_of(image), attributes, text.surface is None, text.are_named)
    known = _known_styles.get(style)
    if known is None:
        if len(_known_styles) >= _STYLES_MAX:
            _known_styles.clear()
        characters = moulds.made_by_manim(image, _sample(attributes, text))
        known = _Style(Mould(*characters), characters[0].path_obj, moulds.of_groups())
        _known_styles[style] = known
    return known


def _sample(attributes: str, text: _Text) -> str:
    """Return a document with one character, as Cairo writes it."""
    path = 'd="M 0 0 L 1 0 L 1 1 Z "/>'
    named = f'<g id="glyph-0-1"><path {path}</g>'
    symbol = f'<symbol overflow="visible" id="glyph-0-1"><path style="stroke:none;" {path}</symbol>'
    run = f'<g {attributes}><use xlink:href="#glyph-0-1" x="1" y="2"/></g>'
    around = f'<g id="surface1">{run}</g>'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<defs><g>{named if text.are_named else symbol}</g></defs>"
        f"{run if text.surface is None else around}</svg>"
    )


def _make(text: _Text, image: SVGMobject) -> Shapes:
    styles = [_style_of(image, attributes, text) for attributes, _ in text.runs]
    groups: dict[str, VGroup] = {}
    numbers = count()

    def add(style: _Style, name: str | None = None) -> VGroup:
        group = moulds.make_group(style.group)
        groups[f"numbered_group_{next(numbers)}" if name is None else name] = group
        return group

    # The document, and Manim's default style in two groups.
    around = [add(styles[0], name) for name in ("root", None, None, None)]
    if text.surface is not None:
        around.append(add(styles[0], text.surface))
    shapes: list[VMobject] = []
    for style, (_, characters) in zip(styles, text.runs, strict=True):
        run = add(style)
        for character in characters:
            use, named = add(style), add(style, character.name)
            if character.has_path:
                add(style)
            if len(character.points):
                shape = style.make_character(character)
                shapes.append(shape)
                for group in (*around, run, use, *(named,) * text.are_named):
                    group.submobjects.append(shape)
    return shapes, groups
