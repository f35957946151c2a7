"""Finds shapes that appear outside of the frame, or cut by it, and stay there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from manim import Animation, Arrow, FadeIn, Line, Mobject, ParametricFunction

from . import edges, kinds
from .faults import Fault
from .geometry import Array
from .shown import Shown

_REST_S = 1.0
_STILL = 1e-3
_CUT_LEAST, _CUT_MOST = 0.12, 0.48  # more is outside of shapes that rise above the edge on purpose
_DIM = 0.5
_FILLED = 0.1
_FOLLOWED_MAX = 300


@dataclass
class _Followed:
    """A mobject that an animation has shown first."""

    mobject: Mobject
    is_faded_in: bool
    box: Array | None = None
    fault: Fault | None = None
    since_s: float = 0.0
    rest_s: float = 0.0


class Leaving:
    """Follows shapes until they are moved, or seen as a whole."""

    def __init__(self) -> None:
        self._followed: dict[int, _Followed] = {}
        self._known: dict[int, Mobject] = {}

    def introduce(self, animations: Iterable[Animation]) -> None:
        """Note what animations bring into the scene."""
        for animation in animations:
            mobject = animation.mobject
            if not isinstance(mobject, Mobject) or not animation.is_introducer():
                continue
            if id(mobject) in self._known or len(self._known) >= _FOLLOWED_MAX:
                continue
            self._known[id(mobject)] = mobject
            if not any(map(_is_free, mobject.get_family())):
                self._followed[id(mobject)] = _Followed(mobject, isinstance(animation, FadeIn))

    def see(self, shown: Shown, seconds: float) -> Iterator[Fault]:
        """Look at what rests on the screen; yield what is outside, or cut, for the first time."""
        if shown.is_solid or not self._followed:
            return
        members: dict[int, list[int]] = {}
        for index, chain in enumerate(shown.chains):
            for part in chain:
                if id(part) in self._followed:
                    members.setdefault(id(part), []).append(index)
        for key, indices in members.items():
            followed = self._followed[key]
            box = np.array([shown.lo[indices].min(axis=0), shown.hi[indices].max(axis=0)])
            if followed.box is None:
                followed.fault = _fault(shown, followed, indices, box)
                if followed.fault is None:
                    del self._followed[key]
                    continue
                followed.box, followed.since_s = box, seconds
                yield followed.fault
            elif np.abs(box - followed.box).max() > _STILL:
                del self._followed[key]  # it moves in or out
            else:
                followed.rest_s = seconds - followed.since_s

    def faults(self) -> Iterator[Fault]:
        """Yield what has stayed where it is, after the scene has ended."""
        for followed in self._followed.values():
            if followed.fault is not None and followed.rest_s >= _REST_S:
                yield followed.fault


def _is_free(part: Mobject) -> bool:
    """Whether a part may leave the frame, or is judged as a text."""
    return bool(
        part.updaters
        or kinds.is_text(part)
        or kinds.is_coordinate_system(part)
        or kinds.is_field(part)
        or isinstance(part, ParametricFunction)
    )


def _fault(shown: Shown, followed: _Followed, indices: list[int], box: Array) -> Fault | None:
    half = np.array([shown.width, shown.height]) / 2
    if any(shown.units[index] is not None for index in indices) or not shown.is_drawn[indices].all():
        return None
    if (shown.alpha[indices] < _DIM).all():
        return None
    chain = shown.chains[indices[0]]
    chain = chain[: [id(part) for part in chain].index(id(followed.mobject)) + 1]
    if any(map(_is_free, chain)):
        return None
    is_outside = bool((box[0] > half).any() or (box[1] < -half).any())
    if is_outside or _has_lost_tip(shown, followed.mobject) or _is_cut(shown, followed, indices, box):
        return edges.fault(shown, followed.mobject, chain, (box[0], box[1]), is_text=False)
    return None


def _has_lost_tip(shown: Shown, mobject: Mobject) -> bool:
    """Whether an arrow begins in the frame and ends outside of it."""
    if not isinstance(mobject, Arrow) or not mobject.has_tip():
        return False
    half = np.array([shown.width, shown.height]) / 2
    index = next((index for index, leaf in enumerate(shown.leaves) if leaf is mobject.tip), None)
    return index is not None and bool((shown.lo[index] > half).any() or (shown.hi[index] < -half).any())


def _is_cut(shown: Shown, followed: _Followed, indices: list[int], box: Array) -> bool:
    """Whether the frame cuts off a part of a closed shape, at one side.

    Filled shapes that fade in belong to a picture that may go on outside of the frame.
    """
    index = indices[0]
    is_filled = bool(shown.fill[index, 3] > _FILLED)
    if len(indices) > 1 or (is_filled and followed.is_faded_in) or isinstance(followed.mobject, Line):
        return False
    points = shown.of(index)
    if np.abs(points[0] - points[-1]).max() > _STILL:
        return False
    half = np.array([shown.width, shown.height]) / 2
    if (box[0] < -half).sum() + (box[1] > half).sum() != 1:
        return False
    inside = np.minimum(box[1], half) - np.maximum(box[0], -half)
    share = 1 - inside.prod() / np.maximum(box[1] - box[0], 1e-6).prod()
    return bool(_CUT_LEAST < share < _CUT_MOST)
