"""Finds texts that lie on each other."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from . import kinds
from .faults import Fault, move_hint
from .geometry import Array, contains
from .shown import Shown, Text

_DIM = 0.35
_DEPTH = 0.12  # of the height of a glyph
_SHARE = 0.08  # of the area of the smaller text's glyphs
_SAME = 0.02
_TEXTS_MAX, _PAIRS_MAX = 200, 60
_GAP = 0.25


def find(shown: Shown) -> Iterator[Fault]:
    """Yield the pairs of texts whose glyphs meet."""
    texts = [text for text in shown.texts if text.alpha >= _DIM and not text.has_border][:_TEXTS_MAX]
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
    sizes = np.minimum(a_hi[:, None], b_hi[None]) - np.maximum(a_lo[:, None], b_lo[None])
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
    half = np.array([shown.width, shown.height]) / 2
    gap = _GAP * min(text.height, 0.05 * shown.height) + 0.05
    options = [
        np.array([other.lo[0] - text.hi[0] - gap, 0]),
        np.array([other.hi[0] - text.lo[0] + gap, 0]),
        np.array([0, other.lo[1] - text.hi[1] - gap]),
        np.array([0, other.hi[1] - text.lo[1] + gap]),
    ]
    fitting = [
        shift for shift in options if (text.lo + shift > -half).all() and (text.hi + shift < half).all()
    ]
    hint = "Remove one of them before the other appears, or place `{name}` elsewhere."
    if fitting:
        shift = min(fitting, key=lambda option: float(np.abs(option).sum()))
        hint = f"Move `{{name}}` {move_hint(shift)}, or remove {{other}} before."
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
