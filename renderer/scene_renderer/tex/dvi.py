"""Reads a page of a DVI file, TeX's output, and writes it as SVG like dvisvgm does."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Operations, by their first byte.
_CHARACTERS = frozenset({*range(132), *range(133, 137)})
_RULES = frozenset({132, 137})
_PUT = 133  # from here on, characters and rules do not move the position
_NOTHING = 138
_BEGINNING_OF_PAGE = 139
_END_OF_PAGE = 140
_PUSH = 141
_POP = 142
_RIGHT = 143
_DOWN = 157
_MOVES = range(_RIGHT, 171)
_FONT_CHANGES = range(171, 239)
_SPECIALS = range(239, 243)
_FONT_DEFINITIONS = range(243, 247)
_POSTAMBLE = 248
# The bytes of an operation's number; 0 for those that are not named.
_OPERAND_BYTES = {
    **{first + more: more + 1 for first in (128, 133, 143, 157, 235, 239) for more in range(4)},
    **{first + more: more for first in (147, 152, 161, 166) for more in range(5)},
    **dict.fromkeys(_RULES, 8),
}

_BP_PER_SP = 72 / 72.27 / 65536  # big points in a scaled point
_POSTAMBLE_END = 223
# Definitions of the preview package, which draw nothing, and its box for PostScript interpreters.
_IGNORED_SPECIALS = re.compile(rb"!/preview@|!userdict |header=|ps::[-0-9 ]+$")
_RAW_SPECIAL = b"dvisvgm:raw "


class NotSupportedError(Exception):
    """The page contains something that only dvisvgm can convert."""


@dataclass(frozen=True)
class Font:
    """A font as a DVI file names it. `size`: in scaled points."""

    name: str
    checksum: int
    size: int


@dataclass(frozen=True)
class Metrics:
    """Width, height and depth of characters, in multiples of the font's size."""

    boxes: dict[int, tuple[float, float, float]]

    @staticmethod
    def read(path: Path) -> "Metrics":
        """Read a TFM file. Raises OSError, IndexError."""
        data = path.read_bytes()
        words = [int.from_bytes(data[at : at + 4], "big", signed=True) for at in range(0, len(data), 4)]
        lengths = [int.from_bytes(data[at : at + 2], "big") for at in range(0, 24, 2)]
        _, header, first, last, widths, heights = lengths[:6]
        characters = 6 + header
        width_at = characters + last - first + 1
        height_at = width_at + widths
        depth_at = height_at + heights
        boxes = {}
        for code in range(first, last + 1):
            at = (characters + code - first) * 4
            width, height_depth = data[at], data[at + 1]
            if width:
                boxes[code] = (
                    words[width_at + width] / 2**20,
                    words[height_at + (height_depth >> 4)] / 2**20,
                    words[depth_at + (height_depth & 15)] / 2**20,
                )
        return Metrics(boxes)


@dataclass(frozen=True)
class Glyph:
    """A character at a position, in big points."""

    font: int
    code: int
    x: float
    y: float


@dataclass(frozen=True)
class Rule:
    """A filled rectangle, in big points; `x` and `y` are its lower left corner."""

    x: float
    y: float
    height: float
    width: float


@dataclass
class Page:
    """The contents of a page in their order: characters, rules and raw SVG. Fonts are in dvisvgm's order."""

    fonts: dict[int, Font]
    contents: list[Glyph | Rule | str] = field(default_factory=list)


def _postamble(data: bytes) -> int:
    end = len(data)
    while end and data[end - 1] == _POSTAMBLE_END:
        end -= 1
    if end < 5 or data[end - 1] != 2:
        raise NotSupportedError("the file does not end with a postamble")
    at = int.from_bytes(data[end - 5 : end - 1], "big")
    if at >= end or data[at] != _POSTAMBLE:
        raise NotSupportedError("the postamble is not where it should be")
    return at


def pages(data: bytes) -> list[int]:
    """Return where the pages begin. Raises NotSupportedError."""
    at = _postamble(data)
    place = int.from_bytes(data[at + 1 : at + 5], "big", signed=True)
    places: list[int] = []
    while place >= 0:
        if place >= at or data[place] != _BEGINNING_OF_PAGE:
            raise NotSupportedError("a page is not where it should be")
        at = place
        places.append(place)
        place = int.from_bytes(data[at + 41 : at + 45], "big", signed=True)
    return places[::-1]


def fonts(data: bytes) -> dict[int, Font]:
    """Return the fonts that the postamble defines, in its order. Raises NotSupportedError."""
    at = _postamble(data)
    if int.from_bytes(data[at + 13 : at + 17], "big") != 1000:
        raise NotSupportedError("a magnification")
    at += 29
    found: dict[int, Font] = {}
    while data[at] in _FONT_DEFINITIONS:
        number, font, at = _font(data, at)
        found[number] = font
    return found


def _font(data: bytes, at: int) -> tuple[int, Font, int]:
    size = data[at] - 242
    number = int.from_bytes(data[at + 1 : at + 1 + size], "big")
    at += 1 + size
    checksum, scaled = int.from_bytes(data[at : at + 4], "big"), int.from_bytes(data[at + 4 : at + 8], "big")
    length = data[at + 12] + data[at + 13]
    name = data[at + 14 : at + 14 + length].decode("latin-1")
    return number, Font(name, checksum, scaled), at + 14 + length


def read(data: bytes, metrics: dict[str, Metrics], place: int | None = None) -> Page:
    """Read the page at a place, or the first one.

    `metrics`: by font name. Raises NotSupportedError, also for a character without metrics.
    """
    page = Page(fonts(data))
    at = 15 + data[14] if place is None else place
    if data[at] != _BEGINNING_OF_PAGE:
        raise NotSupportedError("the file does not begin with a page")
    at += 45
    position = [0.0] * 6  # h, v, w, x, y and z of the DVI format
    saved: list[list[float]] = []
    font = -1
    size = 0.0
    boxes: dict[int, tuple[float, float, float]] = {}
    while (code := data[at]) != _END_OF_PAGE:
        count = _OPERAND_BYTES.get(code, 0)
        at += 1
        operand = data[at : at + count]
        at += count
        if code in _MOVES:
            axis = int(code >= _DOWN)
            kind = (code - _RIGHT) % (_DOWN - _RIGHT)
            amount = int.from_bytes(operand, "big", signed=True) * _BP_PER_SP
            if kind >= 4:  # by a register, which is set if there is an operand
                register = 2 + 2 * axis + int(kind >= 9)
                if operand:
                    position[register] = amount
                amount = position[register]
            position[axis] += amount
        elif code in _CHARACTERS:
            character = int.from_bytes(operand, "big") if operand else code
            if character not in boxes:
                raise NotSupportedError("a character without metrics")
            page.contents.append(Glyph(font, character, position[0], position[1]))
            if code < _PUT:
                position[0] += boxes[character][0] * size
        elif code in _RULES:
            height, width = (
                int.from_bytes(part, "big", signed=True) * _BP_PER_SP for part in (operand[:4], operand[4:])
            )
            if height > 0 and width > 0:
                page.contents.append(Rule(position[0], position[1], height, width))
            if code < _PUT:
                position[0] += width
        elif code == _PUSH:
            saved.append(position.copy())
        elif code == _POP:
            position = saved.pop()
        elif code in _FONT_CHANGES:
            font = int.from_bytes(operand, "big") if operand else code - _FONT_CHANGES.start
            chosen = page.fonts[font]
            boxes = metrics[chosen.name].boxes
            size = chosen.size * _BP_PER_SP
        elif code in _SPECIALS:
            end = at + int.from_bytes(operand, "big")
            _add_special(page, data[at:end])
            at = end
        elif code in _FONT_DEFINITIONS:
            at = _font(data, at - 1)[2]
        elif code != _NOTHING:
            raise NotSupportedError(f"the operation {code}")
    return page


def _add_special(page: Page, special: bytes) -> None:
    if special.startswith(_RAW_SPECIAL):
        page.contents.append(special[len(_RAW_SPECIAL) :].decode("latin-1"))
    elif not _IGNORED_SPECIALS.match(special):
        raise NotSupportedError("a special")


def to_svg(page: Page, metrics: dict[str, Metrics], outlines: dict[tuple[Font, int], str]) -> str:
    """Write the page as dvisvgm 3 does with ``--no-fonts``. `outlines`: path data of the characters.

    Raises NotSupportedError if a character has no outline, or if the page is empty.
    """
    order = {number: position for position, number in enumerate(page.fonts)}
    used = sorted(
        {(order[item.font], item.code, item.font) for item in page.contents if isinstance(item, Glyph)}
    )
    if not used:
        raise NotSupportedError("no characters")
    try:
        paths = [
            f"<path id='g{position}-{code}' d='{outlines[page.fonts[number], code]}'/>\n"
            for position, code, number in used
        ]
    except KeyError:
        raise NotSupportedError("a character without an outline") from None
    body = []
    left = bottom = float("inf")
    right = top = float("-inf")
    for item in page.contents:
        if isinstance(item, str):
            body.append(item + "\n")
            continue
        if isinstance(item, Glyph):
            font = page.fonts[item.font]
            size = font.size * _BP_PER_SP
            width, height, depth = (size * each for each in metrics[font.name].boxes[item.code])
            name = f"g{order[item.font]}-{item.code}"
            body.append(f"<use x='{_text(item.x)}' y='{_text(item.y)}' xlink:href='#{name}'/>\n")
        else:
            width, height, depth = item.width, item.height, 0.0
            body.append(
                f"<rect x='{_text(item.x)}' y='{_text(item.y - height)}' "
                f"height='{_text(height)}' width='{_text(width)}'/>\n"
            )
        left, right = min(left, item.x), max(right, item.x + width)
        bottom, top = min(bottom, item.y - height), max(top, item.y + depth)
    box = f"{_text(left)} {_text(bottom)} {_text(right - left)} {_text(top - bottom)}"
    return (
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        "<svg version='1.1' xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
        f"width='{_text(right - left)}pt' height='{_text(top - bottom)}pt' viewBox='{box}'>\n"
        f"<defs>\n{''.join(paths)}</defs>\n<g id='page1'>\n{''.join(body)}</g>\n</svg>"
    )


def outlines_of(svg: str, data: bytes) -> Iterator[tuple[tuple[Font, int], str]]:
    """Yield the path data of the characters in an SVG file that dvisvgm has written for DVI data."""
    in_order = list(fonts(data).values())
    for font, code, path in re.findall(r"<path id='g(\d+)-(\d+)' d='([^']*)'/>", svg):
        if int(font) < len(in_order):
            yield (in_order[int(font)], int(code)), path


def _text(number: float) -> str:
    text = f"{number:.6f}".rstrip("0").rstrip(".")
    if text == "-0":
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
