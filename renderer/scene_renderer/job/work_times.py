"""Measures what a scene spends its time on.

Only the thread that runs the scene is measured. Each moment counts for one kind of work, the innermost, so
that the times add up to the time from the first line of the scene's code to its end.
"""

import threading
import time
from types import TracebackType
from typing import Any, Literal

from manim.mobject.text import tex_mobject

from ..messages import WorkTimes
from ..replacing import replace

Work = Literal["scene", "tex", "copy", "update", "draw", "encode"]


class Stopwatch:
    """Adds up time by kind of work."""

    def __init__(self) -> None:
        self._spent: dict[Work, float] = {}
        self._work: Work = "scene"
        self._since = 0.0
        self._thread: int | None = None

    def start(self) -> None:
        """Begin with the scene's own code, in the current thread."""
        self._spent = {}
        self._work = "scene"
        self._thread = threading.get_ident()
        self._since = time.perf_counter()

    def during(self, work: Work) -> "_Span":
        """Return a context whose time counts for `work`; in other threads it has no effect."""
        return _Span(self, work)

    def turn_to(self, work: Work) -> Work | None:
        """Count for `work` from now on. Return what the time counted for before; None: not measured."""
        if threading.get_ident() != self._thread:
            return None
        now = time.perf_counter()
        before = self._work
        self._spent[before] = self._spent.get(before, 0.0) + now - self._since
        self._since = now
        self._work = work
        return before

    def is_at(self, work: Work) -> bool:
        """Whether the time counts for `work` now. Called from any thread, as is `seconds_at_it`."""
        return self._work == work

    def seconds_at_it(self) -> float:
        """Return the seconds since the time began to count for the current work."""
        return time.perf_counter() - self._since

    def times(self) -> WorkTimes:
        """Return the milliseconds so far."""
        self.turn_to(self._work)
        spent = {work: round(seconds * 1000, 1) for work, seconds in self._spent.items()}
        return {
            "scene": spent.get("scene", 0.0),
            "tex": spent.get("tex", 0.0),
            "copy": spent.get("copy", 0.0),
            "update": spent.get("update", 0.0),
            "draw": spent.get("draw", 0.0),
            "encode": spent.get("encode", 0.0),
        }


class _Span:
    __slots__ = ("_before", "_stopwatch", "_work")

    def __init__(self, stopwatch: Stopwatch, work: Work) -> None:
        self._stopwatch = stopwatch
        self._work: Work = work

    def __enter__(self) -> None:
        self._before = self._stopwatch.turn_to(self._work)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            self._stopwatch.turn_to(self._before)


stopwatch = Stopwatch()


def measure_tex() -> None:
    """Measure typesetting, whichever function does it."""
    to_svg_file = vars(tex_mobject)["tex_to_svg_file"]

    def measured(*args: Any, **kwargs: Any) -> Any:
        with stopwatch.during("tex"):
            return to_svg_file(*args, **kwargs)

    replace(tex_mobject, tex_to_svg_file=measured)
