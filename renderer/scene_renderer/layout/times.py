"""Finds times at which nothing is seen, nothing changes, or everything is over too soon."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..messages import FindingKind
from .geometry import Array

_BLANK_S, _BLANK_END_S = 1.9, 3.6
_FROZEN_S = 10.0
_SHORT_S = 0.03
_SHORT_PLAYS_MAX = 2  # more of them are an animation of their own
_EQUAL = 8  # of 255


@dataclass
class Moment:
    """A fault of a time: what, in which play and from when."""

    kind: FindingKind
    play: int
    line: int
    seconds: float
    message: str
    hint: str


@dataclass
class _Run:
    """Pictures that are equal, one after the other."""

    begin: float
    end: float
    is_blank: bool
    has_sound: bool = False

    def __post_init__(self) -> None:
        self.plays: dict[tuple[int, int], float] = {}  # play and line: how long of it


class Times:
    """Follows the pictures of a scene."""

    def __init__(self) -> None:
        self._last: Array | None = None
        self._runs: list[_Run] = []
        self._short: list[tuple[int, int, float, float]] = []
        self._found: list[Moment] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was seen in the last picture, or there was none."""
        return not self._runs or self._runs[-1].is_blank

    def see(
        self,
        pixels: Array,
        *,
        play: int,
        line: int,
        seconds: float,
        lasts: float = 0,
        has_sound: bool = False,
    ) -> None:
        """Note a picture that is seen for a time, at least."""
        flat = np.ascontiguousarray(pixels).view(np.uint32)
        is_same = self._last is not None and np.array_equal(flat, self._last)
        if not is_same:
            is_blank = _is_blank(pixels)
            if not (is_blank and self._runs and self._runs[-1].is_blank):
                self._close()
                self._runs = [_Run(seconds, seconds, is_blank)]
            self._last = flat.copy()
        run = self._runs[-1]
        end = seconds + lasts
        run.has_sound = run.has_sound or has_sound
        place = play, line
        run.plays[place] = run.plays.get(place, 0) + max(0.0, end - run.end)
        run.end = max(run.end, end)

    def play(self, *, play: int, line: int, seconds: float, asked: float) -> None:
        """Note a play that has begun, and the time that its author asked for."""
        if asked < _SHORT_S:
            self._short.append((play, line, seconds, asked))
        else:
            self._close_short()

    def faults(self) -> Iterator[Moment]:
        """Yield the faults, after the scene has ended."""
        self._close_short()
        self._close(is_end=True)
        yield from self._found

    def _close(self, *, is_end: bool = False) -> None:
        for run in self._runs:
            seconds = run.end - run.begin
            is_late = is_end and run.begin > 0
            if not run.plays:
                continue
            (play, line), _ = max(run.plays.items(), key=lambda item: round(item[1], 3))
            if run.is_blank and not run.has_sound and seconds > (_BLANK_END_S if is_late else _BLANK_S):
                self._found.append(
                    Moment(
                        "layout:blank",
                        play,
                        line,
                        run.begin,
                        f"Nothing is seen for {seconds:.1f} seconds.",
                        "Shorten this, or show something meanwhile.",
                    )
                )
            elif not run.is_blank and not run.has_sound and seconds >= _FROZEN_S - 0.3:
                self._found.append(
                    Moment(
                        "layout:frozen",
                        play,
                        line,
                        run.begin,
                        f"Nothing changes for {seconds:.0f} seconds.",
                        "Shorten this, or let something move meanwhile.",
                    )
                )
        self._runs = []

    def _close_short(self) -> None:
        if 0 < len(self._short) <= _SHORT_PLAYS_MAX:
            for play, line, seconds, asked in self._short:
                message = f"This takes {asked:g} seconds, which is too short to be seen."
                hint = "Set a longer time, such as `run_time=1`, or use `self.add` for what appears at once."
                self._found.append(Moment("layout:zero-length", play, line, seconds, message, hint))
        self._short = []


def _is_blank(pixels: Array) -> bool:
    """Whether a picture has only one colour."""
    first = pixels[0, 0]
    if ((pixels[::7, ::7] - first + np.uint8(_EQUAL)) > 2 * _EQUAL).any():
        return False
    return not bool(((pixels - first + np.uint8(_EQUAL)) > 2 * _EQUAL).any())
