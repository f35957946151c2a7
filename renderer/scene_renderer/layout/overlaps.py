"""Finds texts that lie on each other."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from . import kinds
from .faults import Fault, move_hint
from .geometry import Array, contains, length_within, touching
from .legibility import is_backdrop
from .shown import Shown, Text

_DIM = 0.35
_DEPTH = 0.12  # of the height of a glyph
_SHARE = 0.08  # of the area of the smaller text's glyphs
_SAME = 0.02
_TEXTS_MAX, _PAIRS_MAX = 200, 60
_GAP = 0.25
_PLACES_MAX = 12


def find(shown: Shown) -> Iterator[Fault]:
    """Yield the pairs of texts whose glyphs meet."""
    readable = [text for text in shown.texts if text.alpha >= _DIM]
    texts = [text for text in readable if not (text.has_border or is_backdrop(shown, text, readable))]
    texts = texts[:_TEXTS_MAX]
    if len(texts) < 2:
        return
    lo, hi = np.array([text.lo for text in texts]), np.array([text.hi for text in texts])
    meets = np.asarray(((lo[:, None] < hi[None]) & (lo[None] < hi[:, None])).all(axis=2))
    for one, other in combinations(range(len(texts)), 2):
        if meets[one, other] and _overlap(shown, texts[one], texts[other]):
            first = _fault(shown, texts[one], texts[other])
            second = _fault(shown, texts[other], texts[one])
            second.alternative = first
            yield second


def _overlap(shown: Shown, one: Text, other: Text) -> bool:
    if _are_arranged(one, other):
        return False
    a_lo, a_hi = shown.lo[one.glyphs], shown.hi[one.glyphs]
    b_lo, b_hi = shown.lo[other.glyphs], shown.hi[other.glyphs]
    # What lies outside of the frame isn't seen.
    half = np.array([shown.width, shown.height]) / 2
    top = np.minimum(np.minimum(a_hi[:, None], b_hi[None]), half)
    sizes = top - np.maximum(np.maximum(a_lo[:, None], b_lo[None]), -half)
    deep = np.asarray((sizes > _DEPTH * min(one.height, other.height)).all(axis=2))
    if not deep.any() or _is_same(deep, (a_lo, a_hi), (b_lo, b_hi)):
        return False
    area = sizes.prod(axis=2)[deep].sum()
    least = min((a_hi - a_lo).prod(axis=1).sum(), (b_hi - b_lo).prod(axis=1).sum())
    if area < _SHARE * least and deep.any(axis=1).sum() < 2:
        return False
    if one.unit is not other.unit and kinds.text_of(one.unit) == kinds.text_of(other.unit) != "":
        distance = np.abs((one.lo + one.hi) / 2 - (other.lo + other.hi) / 2).max()
        if distance < 0.3 * max(one.height, other.height):
            return False  # a shadow, or a copy about to move
    if shown.is_covered(one) or shown.is_covered(other):
        return False
    return any(_ink_meets(shown, int(one.glyphs[a]), int(other.glyphs[b])) for a, b in _first(deep))


def _first(deep: Array) -> list[tuple[int, int]]:
    """Return some of the pairs of glyphs whose boxes meet."""
    return [(int(a), int(b)) for a, b in np.argwhere(deep)[:_PAIRS_MAX]]


def _ink_meets(shown: Shown, one: int, other: int) -> bool:
    """Whether the outline of a glyph enters another one: a root, or a bracket, may surround other glyphs."""
    a, b = shown.of(one)[::3], shown.of(other)[::3]
    return bool(contains(a, b).any() or contains(b, a).any())


def _is_same(deep: Array, one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether the glyphs that meet are copies in the same place, which look like one."""
    a, b = np.nonzero(deep)
    distance = np.abs(np.concatenate([one[0][a] - other[0][b], one[1][a] - other[1][b]], axis=1)).max(axis=1)
    best = np.full(len(deep), np.inf)
    np.minimum.at(best, a, distance)
    return bool((best[np.unique(a)] < _SAME).all())


def _are_arranged(one: Text, other: Text) -> bool:
    """Whether both are parts of one mobject whose class arranges them."""
    inner = {id(part) for part in one.chain}
    return any(id(part) in inner and kinds.is_structure(part) for part in other.chain)


def _fault(shown: Shown, text: Text, other: Text) -> Fault:
    shift = _shift_away(shown, text, other)
    is_part = any(map(kinds.is_structure, other.chain[:-1]))
    hint = "Remove one of them before the other appears, or place `{name}` elsewhere."
    if shift is not None:
        hint = f"Move `{{name}}` {move_hint(shift)}"
        hint += "." if is_part else ", or remove {other} before."
    lo, hi = np.maximum(text.lo, other.lo), np.minimum(text.hi, other.hi)
    return Fault(
        "layout:overlap",
        text.unit,
        "{name} lies on {other}.",
        hint,
        lo,
        hi,
        chain=text.chain,
        other=other.unit,
        other_chain=other.chain,
    )


def _shift_away(shown: Shown, text: Text, other: Text) -> Array | None:
    """Return the smallest move to a place in the frame at which no other text is; None if there is none."""
    half = np.array([shown.width, shown.height]) / 2
    gap = _GAP * min(text.height, 0.05 * shown.height) + 0.05
    own = {id(part) for part in text.chain[:1]} if other.chain[0] is not text.chain[0] else {id(text.unit)}
    others = [one for one in shown.texts if not own & {id(part) for part in one.chain}][:_TEXTS_MAX]
    lo, hi = np.array([one.lo for one in others]), np.array([one.hi for one in others])
    sides = np.concatenate(
        [
            np.stack([lo[:, 0] - text.hi[0] - gap, np.zeros(len(lo))], axis=1),
            np.stack([hi[:, 0] - text.lo[0] + gap, np.zeros(len(lo))], axis=1),
            np.stack([np.zeros(len(lo)), lo[:, 1] - text.hi[1] - gap], axis=1),
            np.stack([np.zeros(len(lo)), hi[:, 1] - text.lo[1] + gap], axis=1),
        ]
    )
    new_lo, new_hi = text.lo + sides, text.hi + sides
    is_in = (new_lo > -half).all(axis=1) & (new_hi < half).all(axis=1)
    meets = ((new_lo[:, None] < hi[None]) & (new_hi[:, None] > lo[None])).all(axis=2).any(axis=1)
    free = sides[is_in & ~meets]
    nearest = free[np.abs(free).sum(axis=1).argsort()][:_PLACES_MAX]
    blank = (shift for shift in nearest if not _has_lines(shown, text.lo + shift, text.hi + shift))
    return next(blank, nearest[0] if len(nearest) else None)


def _has_lines(shown: Shown, lo: Array, hi: Array) -> bool:
    """Whether lines pass through a box."""
    near = np.flatnonzero(touching(shown.lo, shown.hi, lo, hi) & shown.is_shape & (shown.stroke[:, 3] > 0))
    return any(length_within(shown.segments(index), lo[None], hi[None])[0] > 0 for index in near.tolist())
