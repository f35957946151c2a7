"""Finds mobjects that are added and never seen."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from manim import Animation, Mobject, Transform

from . import colours, kinds
from .faults import Fault
from .geometry import Array
from .shown import Shown

_TRANSPARENT = 0.02
_TINY = 2e-3
_OPAQUE = 0.85
_EQUAL = 6  # of 255
# Of a shape that is hard to see: the contrast, around so much of it; more parts are a grid or a pattern.
_FAINT, _FAINT_SHARE, _PARTS_MAX = 1.2, 0.75, 3
_SPOTS_MAX = 16
_WATCHED_MAX = 400
_AWAY_PX = 3
_LOOKS_LEAST = 2


@dataclass
class _Watched:
    """A mobject that hasn't been seen yet."""

    mobject: Mobject
    chain: tuple[Mobject, ...]
    is_animated: bool
    why: str = ""
    place: tuple[Array, Array] | None = None
    other: tuple[Mobject, ...] = ()
    at: tuple[int, int, float] = (0, 0, 0.0)  # play, line, seconds of the first moment
    looks: int = 0


class Unseen:
    """Follows what is added until it is seen."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}
        self._known: dict[int, Mobject] = {}
        self._words: set[str] = set()  # of the texts that were seen

    @property
    def is_waiting(self) -> bool:
        """Whether there are mobjects that haven't been seen yet."""
        return bool(self._watched)

    def introduce(self, animations: Iterable[Animation]) -> None:
        """Note what animations bring into the scene."""
        for animation in animations:
            mobject = animation.mobject
            if isinstance(mobject, Mobject) and animation.is_introducer():
                self._add(mobject, is_animated=True)
            if isinstance(animation, Transform) and animation.replace_mobject_with_target_in_scene:
                for part in animation.mobject.get_family():  # another one is seen instead
                    self._watched.pop(id(part), None)

    def _add(self, mobject: Mobject, *, is_animated: bool) -> None:
        if id(mobject) in self._known or len(self._known) >= _WATCHED_MAX:
            return
        self._known[id(mobject)] = mobject
        if not (kinds.is_mark(mobject) or kinds.is_field(mobject)):
            self._watched[id(mobject)] = _Watched(mobject, (mobject,), is_animated)

    def see(self, shown: Shown, pixels: Array | None, at: tuple[int, int, float], *, at_rest: bool) -> None:
        """Release what is seen now."""
        if at_rest:
            for chain in shown.chains:
                self._add(chain[0], is_animated=False)
            self._note_words(shown)
        if not self._watched or shown.is_solid:
            return
        members: dict[int, list[int]] = {}
        for index, chain in enumerate(shown.chains):
            for part in chain:
                if id(part) in self._watched:
                    members.setdefault(id(part), []).append(index)
        for key, indices in members.items():
            watched = self._watched[key]
            reasons = [_why_unseen(shown, index, pixels) for index in indices]
            why, cover = next((reason for reason in reasons if reason is not None), (None, None))
            is_outline = why == "faint" and bool((shown.fill[indices, 3] < _TRANSPARENT).all())
            if not all(reasons) or (not is_outline and _is_mask(shown, indices)):
                del self._watched[key]
                continue
            if why is None:  # not known without pixels
                continue
            watched.looks += at_rest
            if watched.place is None:
                watched.at, watched.chain = at, _until(shown.chains[indices[0]], watched.mobject)
            watched.why, watched.other = why, () if cover is None else shown.chains[cover]
            watched.place = shown.lo[indices].min(axis=0), shown.hi[indices].max(axis=0)

    def _note_words(self, shown: Shown) -> None:
        """Watch the texts that are transparent, and remember what the others say."""
        seen: dict[int, bool] = {}
        for index, unit in enumerate(shown.units):
            if unit is not None:
                seen[id(unit)] = seen.get(id(unit), False) or bool(shown.alpha[index] >= _TRANSPARENT)
        for index, unit in enumerate(shown.units):
            if unit is None or id(unit) not in seen:
                continue
            if seen.pop(id(unit)):
                self._words.add(kinds.text_of(unit))
            elif not any(part.updaters or kinds.is_structure(part) for part in shown.chains[index][:-1]):
                self._add(unit, is_animated=False)

    def faults(self) -> Iterator[tuple[Fault, tuple[int, int, float]]]:
        """Yield what was never seen, with the first moment at which it could have been."""
        for watched in self._watched.values():
            if watched.place is None or not watched.looks:
                continue
            if watched.why == "faint" and not _is_figure(watched):
                continue
            if self._is_placeholder(watched) or self._is_within_other(watched):
                continue
            yield _fault(watched), watched.at

    def _is_placeholder(self, watched: _Watched) -> bool:
        """Whether a mobject that can't be seen only marks a place: no text, or one whose words are seen."""
        if watched.is_animated or watched.why not in ("transparent", "tiny"):
            return False
        words = kinds.text_of(watched.mobject)
        is_words = watched.why == "transparent" and kinds.has_letters(watched.mobject) and bool(words)
        return not (is_words and words not in self._words and watched.looks >= _LOOKS_LEAST)

    def _is_within_other(self, watched: _Watched) -> bool:
        """Whether a group that the mobject is in isn't seen either."""
        return any(id(part) in self._watched for part in watched.chain[:-1])


def _until(chain: tuple[Mobject, ...], mobject: Mobject) -> tuple[Mobject, ...]:
    ids = [id(part) for part in chain]
    return chain[: ids.index(id(mobject)) + 1]


def _why_unseen(shown: Shown, index: int, pixels: Array | None) -> tuple[str | None, int | None] | None:
    """Return why nothing of a leaf is seen, and what hides it; None: something is seen."""
    if not shown.is_drawn[index]:
        return None
    if shown.alpha[index] < _TRANSPARENT:
        return "transparent", None
    lo, hi = shown.lo[index], shown.hi[index]
    if (hi - lo).max() < _TINY:
        return "tiny", None
    half = np.array([shown.width, shown.height]) / 2
    if (lo > half).any() or (hi < -half).any():
        return None  # that is another fault, if it is one
    outline = shown.outline(index)
    spots = outline[:: max(1, len(outline) // _SPOTS_MAX)]
    centre = (lo + hi) / 2
    spots = np.concatenate([spots, centre[None], (spots + centre) / 2])
    for cover in shown.covers:
        if cover > index and (shown.lo[cover] <= lo).all() and (shown.hi[cover] >= hi).all():
            if shown.covered(index, spots).all():
                return "covered", cover
            break
    if shown.units[index] is not None:
        return None  # colours of texts are another matter
    return _why_equal(shown, index, pixels, spots[: -len(spots) // 2])


def _why_equal(
    shown: Shown, index: int, pixels: Array | None, edge: Array
) -> tuple[str | None, int | None] | None:
    """Return that a leaf has the colour of what is around it; None if it hasn't."""
    drawn = [one for one in (shown.fill[index], shown.stroke[index]) if one[3] >= _TRANSPARENT]
    if any(colour[3] < _OPAQUE for colour in drawn):
        return None
    values = np.array([colour[:3] * 255 for colour in drawn])
    if np.ptp(values, axis=0).max() > _EQUAL:
        return None
    half = np.array([shown.width, shown.height]) / 2
    if (shown.lo[index] < -half).any() or (shown.hi[index] > half).any():
        return None  # what is around its ends can't be looked at
    if pixels is None:
        return None, None
    height, width = pixels.shape[:2]
    scale = np.array([width / shown.width, -height / shown.height])
    centre = (shown.lo[index] + shown.hi[index]) / 2
    away = edge - centre
    length = np.maximum(np.hypot(away[:, 0], away[:, 1]), 1e-6)[:, None]
    border = shown.line[index] / 200 + _AWAY_PX * shown.height / height
    spots = np.floor((edge + away / length * border) * scale + [width / 2, height / 2]).astype(int)
    spots = spots[((spots >= 0) & (spots < [width, height])).all(axis=1)]
    if not len(spots):
        return None
    around = pixels[spots[:, 1], spots[:, 0], :3].astype(float)
    if np.abs(around - values[0]).max() <= _EQUAL:
        return "equal", None
    opaque = np.append(values[0] / 255, 1.0)
    low = colours.contrast(opaque[None], around[None] / 255)[0] < _FAINT
    return ("faint", None) if low.mean() >= _FAINT_SHARE else None


def _is_mask(shown: Shown, indices: list[int]) -> bool:
    """Whether a mobject that isn't seen has something above or behind it: it is there to hide or to back."""
    lo, hi = shown.lo[indices].min(axis=0), shown.hi[indices].max(axis=0)
    if max(hi - lo) < _TINY or (shown.alpha[indices] < _TRANSPARENT).all():
        return False
    own = set(indices)
    meets = ((shown.lo < hi) & (shown.hi > lo)).all(axis=1) & (shown.alpha > _TRANSPARENT)
    around = ((shown.lo <= lo) & (shown.hi >= hi)).all(axis=1)
    return any(int(index) not in own for index in np.flatnonzero(meets & ~around))


def _is_figure(watched: _Watched) -> bool:
    """Whether a mobject is shown for its own sake, by an animation, and has few parts."""
    parts = [part for part in watched.mobject.get_family() if len(part.points)]
    return watched.is_animated and len(parts) <= _PARTS_MAX and watched.looks >= _LOOKS_LEAST


def _fault(watched: _Watched) -> Fault:
    assert watched.place is not None
    message, hint = {
        "transparent": (
            "{name} is added, but never seen: it is transparent.",
            "Give it an opacity or a stroke width above 0, or fade it in by `.animate.set_opacity(1)`.",
        ),
        "tiny": (
            "{name} is added, but never seen: it has no size.",
            "Scale it by more than 0, or show it with `GrowFromCenter({name})`.",
        ),
        "covered": (
            "{name} is added, but never seen: {other} covers it.",
            "Add `{name}` after {other}, or give it a higher `z_index`.",
        ),
        "equal": (
            "{name} is added, but never seen: it has the colour of what is behind it.",
            "Give it another colour.",
        ),
        "faint": (
            "{name} is hard to see: its colour is too close to what is behind it.",
            "Use a colour that differs more in brightness.",
        ),
    }[watched.why]
    return Fault(
        "layout:contrast" if watched.why == "faint" else "layout:hidden",
        watched.mobject,
        message,
        hint,
        *watched.place,
        chain=watched.chain,
        other=watched.other[-1] if watched.other else None,
        other_chain=watched.other,
        is_placed=False,
    )
