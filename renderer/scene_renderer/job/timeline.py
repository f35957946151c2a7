"""The plays of a scene: their places in the video, what they show and the lines that play them."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

from manim import Animation, Mobject, Scene, Wait

from ..layout.names import Names
from ..messages import Play

_PLAYS_MAX = 1000
_PLAYS_PER_REPORT = 100
_NAMES_MAX = 3
_MOVES_MAX = 20
_CHARACTERS_MAX = 60


class Timeline:
    """Records plays; those after the first thousand are dropped."""

    def __init__(self, source: Path) -> None:
        self._path = str(source)
        self._plays: list[Play] = []
        self._begun = 0
        self._playing: Scene | None = None
        self._since = time.monotonic()
        self._names: Names | None = None
        self._moves: list[list[str]] = []

    def name_moves(self) -> None:
        """Also record the names of what plays animate, for `moves`."""
        self._names = Names(self._path)

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
            if self._names is not None:
                self._moves.append(_moving(animations or [], self._names.known()))

    def drop(self) -> None:
        """Forget the plays so far, which are not in the video."""
        self._plays.clear()

    def moves(self) -> Iterator[list[list[str]]]:
        """Yield the names of what each play animates, in parts of the size of a message."""
        for start in range(0, len(self._moves), _PLAYS_PER_REPORT):
            yield self._moves[start : start + _PLAYS_PER_REPORT]

    def reports(self) -> Iterator[list[Play]]:
        """Yield the plays in parts of the size of a message."""
        for start in range(0, len(self._plays), _PLAYS_PER_REPORT):
            yield self._plays[start : start + _PLAYS_PER_REPORT]


def _moving(animations: Sequence[Animation], known: dict[int, str]) -> list[str]:
    """Return the names of what animations animate, or the classes of what has no name, each once."""
    found: dict[str, None] = {}
    for animation in animations:
        inner = getattr(animation, "animations", None)
        if isinstance(inner, list | tuple) and inner:
            found.update(dict.fromkeys(_moving(inner, known)))
            continue
        mobject = getattr(animation, "mobject", None)
        if isinstance(mobject, Mobject) and not isinstance(animation, Wait):
            found[known.get(id(mobject), type(mobject).__name__)[:_CHARACTERS_MAX]] = None
    return list(found)[:_MOVES_MAX]


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
