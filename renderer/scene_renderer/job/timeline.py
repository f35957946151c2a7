"""The plays of a scene: their places in the video, what they show and the lines that play them."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from manim import Animation, Scene

from ..messages import Play

_PLAYS_MAX = 1000
_PLAYS_PER_REPORT = 100
_NAMES_MAX = 3
_CHARACTERS_MAX = 60


class Timeline:
    """Records plays; those after the first thousand are dropped."""

    def __init__(self, source: Path) -> None:
        self._path = str(source)
        self._plays: list[Play] = []
        self._begun = 0
        self._playing: Scene | None = None
        self._since = time.monotonic()

    @property
    def path(self) -> str:
        """The file that the scene's code runs as."""
        return self._path

    @property
    def is_full(self) -> bool:
        """Whether further plays are dropped."""
        return len(self._plays) >= _PLAYS_MAX

    @property
    def play(self) -> int | None:
        """The last play that has begun, counted from 0; None: none has."""
        return self._begun - 1 if self._begun else None

    def line(self) -> int:
        """Return the innermost running line of the scene's own file; 0 if there is none."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._path:
            frame = frame.f_back
        return frame.f_lineno if frame is not None else 0

    def begin(self, scene: Scene) -> None:
        """Note that a play of the scene begins."""
        self._begun += 1
        self._playing, self._since = scene, time.monotonic()

    def end(self) -> None:
        """Note that it has ended."""
        self._playing, self._since = None, time.monotonic()

    def now(self) -> str:
        """Return a sentence on what the scene is playing and for how long. May be called from any thread."""
        scene, begun = self._playing, self._begun
        lasts = f"For the last {time.monotonic() - self._since:.0f} s,"
        if scene is not None:
            shows = _names(scene.animations or [])
            return f"{lasts} the scene was in play {begun}{shows and f', {shows}'}."
        return f"{lasts} the scene's code ran " + (
            f"after play {begun}." if begun else "before its first play."
        )

    def add(self, line: int, animations: list[Animation] | None, start: float, seconds: float) -> None:
        """Record a play, with times in the video."""
        if not self.is_full:
            shows = _names(animations or [])
            self._plays.append({"line": line, "shows": shows, "startSeconds": start, "seconds": seconds})

    def reports(self) -> Iterator[list[Play]]:
        """Yield the plays in parts of the size of a message."""
        for start in range(0, len(self._plays), _PLAYS_PER_REPORT):
            yield self._plays[start : start + _PLAYS_PER_REPORT]


def _names(animations: list[Animation]) -> str:
    """Name animations by their classes, such as ``Create(Circle), Write(Text)``."""
    names = [_name(animation) for animation in animations[:_NAMES_MAX]]
    rest = len(animations) - len(names)
    text = ", ".join(names) + (f" + {rest}" if rest else "")
    return text[:_CHARACTERS_MAX]


def _name(animation: Animation) -> str:
    kind = type(animation).__name__
    if kind == "Wait":
        return "wait"
    mobject = type(getattr(animation, "mobject", None)).__name__
    if kind == "_MethodAnimation":
        return f"{mobject}.animate"
    return kind if mobject in ("NoneType", "Group", "Mobject") else f"{kind}({mobject})"
