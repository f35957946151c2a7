"""Finds what leaves the frame."""

from collections.abc import Iterator

import numpy as np
from manim import Arrow, Line, Mobject, ParametricFunction, Table
from manim.mobject.graph import GenericGraph

from . import kinds
from .faults import Fault, move_hint
from .geometry import Array
from .shown import Shown

_TOLERANCE = 0.007  # of the frame's height
# Of a text: a part of its size, or of the frame's height.
_TEXT_CUT, _PIXEL = 0.1, 0.0015
_TABLE_CUT = 0.02
_DIM = 0.35
# A shape that is larger than this part of the frame is probably a background.
_LARGE = 0.6
_CUT_LEAST, _CUT_MOST = 0.12, 0.95
_ENDLESS = (Arrow, Line, ParametricFunction)
_MARGIN = 0.03  # of the frame's height


def find(shown: Shown) -> Iterator[tuple[Fault, bool]]:
    """Yield faults, and whether nothing of the mobject is in the frame."""
    if not (shown.leaves):
        return
    half = np.array([shown.width, shown.height]) / 2
    slack = _TOLERANCE * shown.height
    for text in shown.texts:
        allowed = np.clip(_TEXT_CUT * (text.hi - text.lo), _PIXEL * shown.height, slack)
        if (np.abs([text.lo, text.hi]) <= half + allowed).all() or text.alpha < _DIM:
            continue
        if _is_free(text.chain) and not shown.is_covered(text):
            outside = bool((text.lo > half).any() or (text.hi < -half).any())
            yield fault(shown, text.unit, text.chain, (text.lo, text.hi), is_text=True), outside
    yield from ((table, False) for table in _tables(shown))
    with_text = {id(text.chain[0]) for text in shown.texts}
    out = (shown.lo < -half - slack).any(axis=1) | (shown.hi > half + slack).any(axis=1)
    sizes = np.maximum((shown.hi - shown.lo), 1e-6)
    inside = np.minimum(shown.hi, half) - np.maximum(shown.lo, -half)
    shares = 1 - np.clip(inside, 0, None).prod(axis=1) / sizes.prod(axis=1)
    small = (sizes < 2 * half * _LARGE).all(axis=1) & shown.is_drawn & (shown.alpha > 0.5)
    for index in np.flatnonzero(out & small & (shares > _CUT_LEAST) & (shares < _CUT_MOST)):
        chain = shown.chains[index]
        if shown.units[index] is None and _is_shape(shown, int(index)) and _is_free(chain):
            cut = fault(shown, chain[-1], chain, (shown.lo[index], shown.hi[index]), is_text=False)
            cut.is_shape = id(chain[0]) not in with_text
            yield cut, False


def _tables(shown: Shown) -> Iterator[Fault]:
    """Yield tables whose lines end outside of the frame."""
    half = np.array([shown.width, shown.height]) / 2
    tables: dict[int, tuple[Mobject, ...]] = {}
    for index in np.flatnonzero(shown.is_shape & (shown.stroke[:, 3] > _DIM)).tolist():
        chain = shown.chains[index]
        place = next((place for place, one in enumerate(chain) if isinstance(one, Table)), None)
        if place is not None and _is_free(chain):
            tables[id(chain[place])] = chain[: place + 1]
    for chain in tables.values():
        lo, hi = shown.box_of(chain[-1])
        is_seen = (lo < half).all() and (hi > -half).all()
        if is_seen and (np.abs([lo, hi]) > half + _TABLE_CUT * shown.height).any():
            yield fault(shown, chain[-1], chain, (lo, hi), is_text=True)


def _is_shape(shown: Shown, index: int) -> bool:
    """Whether a leaf is a closed shape, no line or curve that may go on for ever."""
    points = shown.of(index)
    chain = shown.chains[index]
    if any(isinstance(one, _ENDLESS) for one in chain):
        return False
    return bool(np.abs(points[0] - points[-1]).max() < 1e-3)


def _is_free(chain: tuple[Mobject, ...]) -> bool:
    """Whether a mobject isn't moved by updaters, or part of axes, which may be larger than the frame."""
    return not any(
        kinds.is_coordinate_system(one)
        or kinds.is_field(one)
        or (one.updaters and not isinstance(one, GenericGraph))  # updates its edges
        for one in chain
    )


def fault(
    shown: Shown, subject: Mobject, chain: tuple[Mobject, ...], box: tuple[Array, Array], *, is_text: bool
) -> Fault:
    """Return that a mobject with this box leaves the frame."""
    lo, hi = shown.box_of(chain[0]) if len(chain) > 1 else box
    half = np.array([shown.width, shown.height]) / 2 - _MARGIN * shown.height
    room, size = 2 * half, hi - lo
    if (size > room).any():
        factor = float((room / np.maximum(size, 1e-6)).min())
        hint = f"Scale `{{name}}` by {np.floor(factor * 100) / 100:g}, or break it into more lines or parts."
        if not is_text:
            hint = f"Scale `{{name}}` by {np.floor(factor * 100) / 100:g}."
    else:
        shift = np.maximum(-half - lo, 0) - np.maximum(hi - half, 0)
        hint = f"Move `{{name}}` {move_hint(shift)}."
    beyond = {
        "left": -shown.width / 2 - box[0][0],
        "right": box[1][0] - shown.width / 2,
        "bottom": -shown.height / 2 - box[0][1],
        "top": box[1][1] - shown.height / 2,
    }
    least = min(_TOLERANCE * shown.height, max(beyond.values()) / 2)
    edges = " and ".join(name for name, by in beyond.items() if by > least)
    message = f"{{name}} leaves the frame at the {edges}."
    return Fault("layout:off-frame", subject, message, hint, *box, chain=chain)
