"""Watches what a scene shows while it is played, and says what its author wouldn't want."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain as joined
from typing import Any

import numpy as np
from manim import Animation, Mobject, Scene, Transform
from manim.animation.composition import AnimationGroup
from manim.camera.moving_camera import MovingCamera
from manim.mobject.svg.svg_mobject import VMobjectFromSVGPath
from manim.mobject.text.tex_mobject import MathTexPart

from ..messages import Finding
from . import crossings, edges, kinds, legibility, overlaps, turned
from .faults import Fault
from .geometry import Array
from .leaving import Leaving
from .names import Names
from .origins import Origins
from .report import Place, Reported, findings_of
from .shown import Shown, Text
from .source import Source
from .times import Times
from .unseen import Unseen

_FRAGMENTS = (VMobjectFromSVGPath, MathTexPart)
_View = tuple[float, ...]
_WORDS_MAX = 30
_GROWN = 1.15
_DIM = 0.5


@dataclass
class _Seen:
    """What is known of a text that was shown."""

    unit: Mobject
    view: _View  # of the camera when it was shown first
    is_inside: bool = False


@dataclass
class _Play:
    """The last play: its number, line and what it has animated."""

    number: int = 0
    line: int = 0
    animated: dict[int, Any] = field(default_factory=dict)


class LayoutWatch:
    """Looks at a scene again and again; `findings` tells what was wrong.

    `path`: the file that the author's code runs as; `height_px`: of the video that is asked for.
    """

    def __init__(self, code: str, path: str, height_px: int) -> None:
        self._source = Source(code)
        self._height_px = height_px
        self._names = Names(path)
        self.origins = Origins(path)
        self._times = Times()
        self._unseen = Unseen()
        self._leaving = Leaving()
        self._left: dict[Any, Reported] = {}
        self._play = _Play()
        self._shown: Shown | None = None
        self._texts: dict[int, _Seen] = {}
        self._before: set[int] = set()  # the texts of the last look
        self._pending: dict[Any, Reported] = {}
        self._found: dict[Any, Reported] = {}
        self._outside: dict[Any, Reported] = {}
        self._became: dict[int, tuple[Mobject, bool]] = {}
        self._scrolled: dict[int, Mobject] = {}
        self._views: set[_View] = set()
        # The views with which texts can be read.
        self._read: dict[int, set[_View]] = {}
        self._parts: dict[int, Mobject] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was seen in the last picture, or there was none."""
        return self._times.is_empty

    def begin_play(self, *, play: int, line: int, seconds: float, asked_s: float) -> None:
        """Note that a play begins, and how long its author wants it to be."""
        self._names.remember()
        self._times.play(play=play, line=line, seconds=seconds, asked=asked_s)

    def end_play(self, animations: Iterable[Animation], *, play: int, line: int) -> None:
        """Note what a play has animated."""
        flat = list(_flat(animations))
        animated = {id(one.mobject): one.mobject for one in flat if isinstance(one.mobject, Mobject)}
        self._play = _Play(play, line, animated)
        self._unseen.introduce(flat)
        self._leaving.introduce(flat)
        for one in flat:
            target = getattr(one, "target_mobject", None)
            if isinstance(one, Transform) and isinstance(target, Mobject):
                self._note_change(one.mobject, target)

    def show(
        self, pixels: Array, *, play: int, line: int, seconds: float, lasts: float, has_sound: bool
    ) -> None:
        """Note a picture of the video, and for how long it is shown at least."""
        self._times.see(pixels, play=play, line=line, seconds=seconds, lasts=lasts, has_sound=has_sound)

    def see(
        self, scene: Scene, pixels: Array | None, *, play: int, line: int, seconds: float, at_rest: bool
    ) -> None:
        """Look at the mobjects of a scene and their picture, in the middle of a play or after it."""
        if not at_rest and not (self._unseen.is_waiting or self._outside):
            return
        self._parts = None
        shown = Shown(scene, self._unit_of, at_rest=at_rest)
        self._unseen.see(shown, pixels, (play, line, seconds), at_rest=at_rest)
        view = _view_of(shown)
        self._views.add(view)
        for text in shown.texts:
            seen = self._texts.setdefault(id(text.unit), _Seen(text.unit, view))
            half = np.array([shown.width, shown.height]) / 2
            seen.is_inside |= bool((text.lo < half).all() and (text.hi > -half).all())
        if not at_rest:
            return
        self._note_scrolling(shown)
        for fault in self._leaving.see(shown, seconds):
            place = Place(self._play.number, self._play.line, seconds)
            self._left[fault.key] = self._reported(fault, place, shown, {})
        if shown.is_like(self._shown):
            self._found.update(self._pending)
        else:
            place = Place(self._play.number, self._play.line, seconds)
            faults = {fault.key: fault for fault in self._faults(shown, pixels, view, place)}
            self._note(faults, place, shown)
            self._revoke(faults, shown, has_pixels=pixels is not None)
        self._shown, self._before = shown, {id(text.unit) for text in shown.texts}

    def findings(self) -> list[Finding]:
        """Return what was found, after the scene has ended."""
        self._found.update(self._pending)
        for key, reported in self._outside.items():
            fault = reported.fault
            if not (self._texts[id(fault.subject)].is_inside or self._is_scrolled(fault)):
                self._found[key] = reported
        if len(self._views) == 1:
            self._found.update((fault.key, self._left[fault.key]) for fault in self._leaving.faults())
        for fault, (play, line, seconds) in self._unseen.faults():
            self._found[fault.key] = self._reported(fault, Place(play, line, seconds), None, {})
        self._names.forget()
        return findings_of(self._found.values(), self._times.faults(), self._source)

    def _faults(self, shown: Shown, pixels: Array | None, view: _View, place: Place) -> Iterator[Fault]:
        for chain in shown.broken:
            yield _broken(chain)
        yield from (one for one in turned.find(shown) if not self.origins.is_label_of_axes(one.subject))
        for fault, is_outside in edges.find(shown):
            if not self._is_as_placed(fault, shown, view):
                continue
            if fault.is_shape and not self._has_left(fault):
                continue
            fault.is_revocable = True
            if self._has_outgrown(fault, shown):
                yield fault
            elif is_outside:
                if fault.key not in self._outside:
                    self._outside[fault.key] = self._reported(fault, place, shown, self._names.known())
            elif not self._is_scrolled(fault):
                yield fault
        yield from overlaps.find(shown)
        if not shown.is_solid:
            yield from crossings.find(shown)
            small = list(legibility.find_small(shown, self._height_px))
            self._note_read(shown, view, small)
            for fault in small:
                if not self._read.get(id(fault.subject), set()) - {view}:
                    fault.is_revocable = True
                    yield fault
        if pixels is not None:
            yield from legibility.find_faint(shown, pixels)

    def _note_read(self, shown: Shown, view: _View, small: list[Fault]) -> None:
        """Note which texts can be read with this view of the camera."""
        half = np.array([shown.width, shown.height]) / 2
        illegible = {id(fault.subject) for fault in small}
        for text in shown.texts:
            is_inside = bool((np.abs([text.lo, text.hi]) <= half).all())
            if is_inside and text.alpha >= _DIM and id(text.unit) not in illegible:
                self._read.setdefault(id(text.unit), set()).add(view)

    def _has_left(self, fault: Fault) -> bool:
        """Whether a play has moved a mobject out of the frame."""
        if fault.key in self._pending:
            return True
        before = self._shown
        if before is None or not any(id(part) in self._play.animated for part in fault.chain):
            return False
        half = np.array([before.width, before.height]) / 2
        return any(
            leaf is fault.subject and bool((np.abs([before.lo[index], before.hi[index]]) <= half).all())
            for index, leaf in enumerate(before.leaves)
        )

    def _note_scrolling(self, shown: Shown) -> None:
        """Note the groups of which a text has left the frame altogether: their texts pass by."""
        half = np.array([shown.width, shown.height]) / 2
        for text in shown.texts:
            is_outside = (text.lo > half).any() or (text.hi < -half).any()
            if is_outside and self._texts[id(text.unit)].is_inside:
                self._scrolled.update((id(part), part) for part in text.chain[:-1])

    def _is_scrolled(self, fault: Fault) -> bool:
        return any(id(part) in self._scrolled for part in fault.chain[:-1])

    def _has_outgrown(self, fault: Fault, shown: Shown) -> bool:
        """Whether a play has scaled a group so that a text of it is no longer in the frame."""
        if fault.key in self._pending:
            return True
        moved = [part for part in fault.chain if id(part) in self._play.animated]
        if self._shown is None or not moved:
            return False
        before, now = (_text_in(one, fault.subject) for one in (self._shown, shown))
        if before is None or now is None or now.height < _GROWN * before.height:
            return False
        lo, hi = shown.box_of(moved[0])
        half = np.array([shown.width, shown.height]) / 2
        return bool((lo < half).all() and (hi > -half).all())

    def _is_as_placed(self, fault: Fault, shown: Shown, view: _View) -> bool:
        """Whether the camera still shows what it did when the mobject was shown first."""
        if not isinstance(shown.camera, MovingCamera):
            return True
        seen = self._texts.get(id(fault.subject))
        return seen.view == view if seen else len(self._views) == 1

    def _note(self, faults: dict[Any, Fault], place: Place, shown: Shown) -> None:
        """Keep the faults that last: those that were there at the last look, too."""
        still = {key: reported for key, reported in self._pending.items() if key in faults}
        self._found.update(still)
        names: dict[int, str] = {}
        self._pending = {}
        for key, fault in faults.items():
            if key in self._found:
                continue
            if not names:
                names = self._names.known()
            self._pending[key] = self._reported(fault, place, shown, names)

    def _revoke(self, faults: dict[Any, Fault], shown: Shown, *, has_pixels: bool) -> None:
        """Take back what was only so until now."""
        texts = {id(text.unit) for text in shown.texts}
        for key, reported in list(self._found.items()):
            fault = reported.fault
            is_known = has_pixels or fault.kind != "layout:contrast"
            if fault.is_revocable and is_known and key not in faults and id(fault.subject) in texts:
                del self._found[key]

    def _reported(self, fault: Fault, place: Place, shown: Shown | None, names: dict[int, str]) -> Reported:
        fault = self._of_newer(fault)
        names = names or self._names.known()
        moved = next((part for part in fault.chain if id(part) in self._play.animated), None)
        origin = self.origins.of
        lines = [made.line for part in fault.chain + fault.other_chain if (made := origin(part))]
        if moved is not None and id(fault.subject) in self._before and fault.kind != "layout:hidden":
            named, line = moved, place.line
        else:
            named = self._named(fault, names)
            made = origin(named) or next(
                (made for part in reversed(fault.chain) if (made := origin(part))), None
            )
            line = made.line if made else 0
            target = self._source.target(line, type(named).__name__)
            if target is not None and names.get(id(named), "").isidentifier():
                names = {**names, id(named): target}  # it may have got other names since
        other = self._other_label(fault, names)
        return Reported(
            fault,
            names.get(id(named)) or type(named).__name__,
            _label(fault.subject, named, names),
            other,
            line or place.line,
            place,
            None if shown is None else shown.box(fault.lo, fault.hi),
            self._source.is_exempt(*lines, line, place.line),
            named,
            id(named) in names,
        )

    def _of_newer(self, fault: Fault) -> Fault:
        """Choose which of two mobjects a fault is of: the one that came or moved last."""
        other = fault.alternative
        if other is None:
            return fault
        ranks = [self._rank(one) for one in (fault, other)]
        return other if ranks[1] > ranks[0] else fault

    def _rank(self, fault: Fault) -> tuple[bool, bool, int]:
        made = self.origins.of(fault.subject)
        is_moved = any(id(part) in self._play.animated for part in fault.chain)
        return id(fault.subject) not in self._before, is_moved, made.serial if made else -1

    def _named(self, fault: Fault, names: dict[int, str]) -> Mobject:
        """Return the mobject of a chain that the author knows and has to change."""
        chain = fault.chain or (fault.subject,)
        if fault.is_placed:
            own = self.origins.of(fault.subject)
            shared = {id(part) for part in fault.other_chain}
            for part in chain:
                made = self.origins.of(part)
                is_after = not (own and made) or made.serial >= own.serial or made.line == own.line
                if id(part) in names and id(part) not in shared and is_after:
                    return part
        return next((part for part in reversed(chain) if id(part) in names), fault.subject)

    def _other_label(self, fault: Fault, names: dict[int, str]) -> str:
        if fault.other is None:
            return ""
        own = {id(part) for part in fault.chain}
        known = [part for part in fault.other_chain if id(part) in names and id(part) not in own]
        return _label(fault.other, known[-1] if known else fault.other, names)

    def _unit_of(self, mobject: Mobject) -> Mobject | None:
        became = self._became.get(id(mobject))
        if became is not None:
            return mobject if became[1] else None
        if kinds.is_text(mobject):
            return mobject
        if isinstance(mobject, _FRAGMENTS):
            if self._parts is None:
                self._parts = {}
                for text in self.origins.texts():
                    for part in text.get_family()[1:]:
                        self._parts.setdefault(id(part), text)
            return self._parts.get(id(mobject))
        return None

    def _note_change(self, mobject: Any, target: Mobject) -> None:
        """Note that a mobject has got the looks of another: a text may now be a shape, or a shape a text."""
        was, became = self._unit_of(mobject) is mobject, self._unit_of(target) is not None
        if was != became and not (became and any(map(kinds.is_text, mobject.get_family()))):
            self._became[id(mobject)] = mobject, became


def _label(subject: Mobject, named: Mobject, names: dict[int, str]) -> str:
    """Return how messages call a mobject: by its variable, or by what it says."""
    words = " ".join(kinds.text_of(subject).split())
    words = words if len(words) <= _WORDS_MAX else f"{words[:_WORDS_MAX]}…"
    name = names.get(id(named))
    if name is None:
        return f"`{type(subject).__name__}({words!r})`" if words else f"the {type(subject).__name__}"
    if named is subject or not words or any(part is named for part in subject.get_family()):
        return f"`{name}`"
    return f"“{words}” in `{name}`"


def _flat(animations: Iterable[Animation]) -> Iterator[Animation]:
    for animation in animations:
        yield animation
        if isinstance(animation, AnimationGroup):
            yield from _flat(animation.animations)


def _text_in(shown: Shown, unit: Mobject) -> Text | None:
    return next((text for text in shown.texts if text.unit is unit), None)


def _view_of(shown: Shown) -> _View:
    centre = getattr(shown.camera, "frame_center", (0, 0, 0))
    return tuple(round(float(value), 3) for value in joined(centre, (shown.width, shown.height)))


def _broken(chain: tuple[Mobject, ...]) -> Fault:
    nowhere = np.zeros(2)
    return Fault(
        "scene:points",
        chain[-1],
        "{name} has points that are no numbers (NaN or infinity), so it can't be drawn.",
        "Look for a division by zero, a logarithm or a root of what isn't positive, or a scale by 0.",
        nowhere,
        nowhere,
        chain=chain,
        is_placed=False,
    )
