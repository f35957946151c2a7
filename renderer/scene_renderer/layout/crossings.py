"""Finds texts that are crossed by lines of other mobjects."""

from collections.abc import Iterator

import numpy as np
from manim import Mobject

from . import kinds
from .faults import Fault
from .geometry import Array, contains, length_within, touching
from .shown import Shown, Text

_DIM = 0.35
_FAINT = 0.4  # lines that are less opaque don't keep a text from being read
_BACKS = 0.5  # the opacity of a backing
_BACKED = 0.7  # of the letters have it behind them
_INNER = 0.14  # of a glyph's size, at each side, may be touched
_PASSES = 0.45  # of a glyph's height lies within the text
_PLANE_GLYPHS, _PLANE_PASSES = 8, 2.5
_LINES_MAX = 4000
_CLOSED = 1e-3


def find(shown: Shown) -> Iterator[Fault]:
    """Yield the texts that are crossed, each once."""
    drawn = shown.is_drawn & (shown.stroke[:, 3] >= _FAINT)
    other = np.array([unit is None for unit in shown.units], bool)
    lines = np.flatnonzero(drawn & other)
    if not len(lines):
        return
    for text in shown.texts:
        if text.alpha < _DIM or text.has_border or any(map(kinds.is_coordinate_system, text.chain)):
            continue
        near = lines[touching(shown.lo[lines], shown.hi[lines], text.lo, text.hi)]
        crossing = _crossed_by(shown, text, near) if len(near) else None
        if crossing is not None and not shown.is_covered(text):
            yield _fault(shown, text, crossing)


def _crossed_by(shown: Shown, text: Text, near: Array) -> tuple[Mobject, ...] | None:
    """Return what crosses a text, as a chain of groups; None if nothing does."""
    lengths: dict[int, float] = {}
    owners: dict[int, tuple[Mobject, ...]] = {}
    lo, hi = shown.lo[text.glyphs], shown.hi[text.glyphs]
    sizes = hi - lo
    wide = sizes.max(axis=1) > 0.4 * text.height  # no full stops or commas
    if not wide.any():
        return None
    lo, hi = (lo + _INNER * sizes)[wide], (hi - _INNER * sizes)[wide]
    if _is_one_line(text, shown.lo[text.glyphs], shown.hi[text.glyphs]):
        lo, hi = text.lo[None], text.hi[None]
        lo, hi = lo + _INNER * (hi - lo) * [0, 1], hi - _INNER * (hi - lo) * [0, 1]
    inside = {id(part) for part in text.chain}
    for index in near.tolist():
        chain = shown.chains[index]
        if any(id(part) in inside for part in chain) or any(map(kinds.is_mark, chain)):
            continue
        owner = _owner(chain)
        is_alone = owner[-1] is chain[-1]
        extent = (shown.lo[index], shown.hi[index]) if is_alone else shown.box_of(owner[-1])
        lines = shown.segments(index)[:_LINES_MAX]
        is_above = index > int(text.glyphs[0]) and shown.fill[index, 3] >= _BACKS  # a mask
        is_open = not any(map(kinds.has_tip, owner)) and (is_above or not _is_frame(lines))
        if not len(lines) or (is_open and _is_strike(shown, text, *extent)):
            continue
        within = length_within(lines, lo, hi)
        total = float(within.sum())
        if total <= 0 or _is_backed(shown, index, text):
            continue
        key = id(owner[-1])
        lengths[key] = lengths.get(key, 0) + total
        owners[key] = owner
    for key, length in sorted(lengths.items(), key=lambda item: -item[1]):
        if _counts(owners[key], text, length):
            return owners[key]
    return None


def _is_one_line(text: Text, lo: Array, hi: Array) -> bool:
    """Whether a text is one line without gaps, so what passes between two letters crosses it, too."""
    order = np.argsort(lo[:, 0])
    gaps = lo[order][1:, 0] - np.maximum.accumulate(hi[order][:, 0])[:-1]
    is_low = (text.hi - text.lo)[1] <= 1.4 * (hi - lo)[:, 1].max()
    return bool(is_low and (gaps < 2 * text.height).all())


def _counts(owner: tuple[Mobject, ...], text: Text, length: float) -> bool:
    if any(map(kinds.is_field, owner)):
        return False
    if any(map(kinds.is_plane, owner)):
        return len(text.glyphs) >= _PLANE_GLYPHS and length > _PLANE_PASSES * text.height
    return length > _PASSES * text.height


def _owner(chain: tuple[Mobject, ...]) -> tuple[Mobject, ...]:
    """Return the chain up to the whole that a line is part of: dashes are parts of one line."""
    for place, part in enumerate(chain):
        if not kinds.is_plain(part):
            return chain[: place + 1]
    return chain


def _is_frame(lines: Array) -> bool:
    """Whether lines go around something: their end is their beginning."""
    return len(lines) > 2 and bool(np.abs(lines[0, :2] - lines[-1, 2:]).max() < _CLOSED)


def _is_strike(shown: Shown, text: Text, line_lo: Array, line_hi: Array) -> bool:
    """Whether a line is about as long as the text, or its group: it is struck out on purpose."""
    lo, hi = text.lo, text.hi
    slack = 0.35 * min((hi - lo)[0], 4 * (hi - lo)[1]) + 0.1
    if (line_lo > lo - slack).all() and (line_hi < hi + slack).all():
        return True
    if len(text.chain) < 2 or not kinds.is_plain(text.chain[-2]):
        return False
    lo, hi = shown.box_of(text.chain[-2])
    is_as_long = np.abs([line_lo[0] - lo[0], line_hi[0] - hi[0]]).max() < slack
    return bool(is_as_long and line_lo[1] > lo[1] - slack and line_hi[1] < hi[1] + slack)


def _is_backed(shown: Shown, line: int, text: Text) -> bool:
    """Whether something filled between a line and a text lets the text be read."""
    between = np.arange(line + 1, int(text.glyphs[0]))
    near = touching(shown.lo[between], shown.hi[between], text.lo, text.hi)
    spots = (shown.lo[text.glyphs] + shown.hi[text.glyphs]) / 2
    return any(
        contains(shown.outline(int(index)), spots).mean() > _BACKED
        for index in between[near & (shown.fill[between, 3] >= _BACKS)]
    )


def _fault(shown: Shown, text: Text, crossing: tuple[Mobject, ...]) -> Fault:
    hint = "Move `{name}` beside the line, or put a backing under it: `{name}.add_background_rectangle()`."
    if _is_ring(shown, text, crossing[-1]):
        hint = "Make {other} smaller, or leave more room around what it marks."
    return Fault(
        "layout:crossed",
        text.unit,
        "{name} is crossed by {other}.",
        hint,
        text.lo,
        text.hi,
        chain=text.chain,
        other=crossing[-1],
        other_chain=crossing,
    )


def _is_ring(shown: Shown, text: Text, crossing: Mobject) -> bool:
    """Whether what crosses a text goes around a part of it."""
    index = next((index for index, leaf in enumerate(shown.leaves) if leaf is crossing), None)
    if index is None or not _is_frame(shown.segments(index)):
        return False
    centres = (shown.lo[text.glyphs] + shown.hi[text.glyphs]) / 2
    inside = contains(shown.outline(index), centres)
    return bool(inside.any() and not inside.all())
