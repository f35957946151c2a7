"""Reports, while a scene runs, what it is doing and where, for the error of a render that takes too long.

A thread looks every half second. While the scene's thread computes in a library that doesn't let other
threads run, there are no reports, and the last one remains.
"""

import _thread
import linecache
import sys
import threading
import time
import traceback
from pathlib import Path

from ..protocol import JobChannel
from . import author_frames, scene_folder
from .timeline import Timeline
from .work_times import stopwatch

_INTERVAL_S = 0.5
_LINE_CHARACTERS_MAX = 200


class Whereabouts:
    """Reports for the scene that the current thread runs."""

    def __init__(self, channel: JobChannel, folder: Path) -> None:
        self._channel = channel
        self._folder = folder
        self._path = str(scene_folder.source_path(folder))
        self._scenes_thread = threading.get_ident()
        self._timeline: Timeline | None = None
        self._loading_since = time.monotonic()
        self._has_ended = False

    def start(self) -> None:
        """Begin to report. The thread isn't one of `threading`, so scenes that count threads don't see it."""
        _thread.start_new_thread(self._run, ())

    def follow(self, timeline: Timeline) -> None:
        """Report the plays of the scene, which has been loaded."""
        self._timeline = timeline

    def end(self) -> None:
        """Report that only the video has to be finished."""
        self._has_ended = True
        self._channel.place("The scene had ended, and its video was being finished.")

    def _run(self) -> None:
        while True:
            time.sleep(_INTERVAL_S)
            if self._has_ended:
                return
            try:
                self._channel.place(*self._describe())
            except OSError:  # the service has closed the channel
                return

    def _describe(self) -> tuple[str, int, int | None]:
        frame = sys._current_frames().get(self._scenes_thread)
        stack = list(traceback.walk_stack(frame))[::-1] if frame else []
        lines = [line for frame, line in stack if frame.f_code.co_filename == self._path]
        del frame
        text = [self._doing()]
        if lines:
            line = linecache.getline(self._path, lines[-1]).strip()[:_LINE_CHARACTERS_MAX]
            text.append(f"line {lines[-1]}: {line}")
        text += author_frames.describe_stack(stack, self._folder)
        play = self._timeline.play if self._timeline is not None else None
        return "\n".join(text), lines[-1] if lines else 0, play

    def _doing(self) -> str:
        if stopwatch.is_at("tex"):
            return f"For the last {stopwatch.seconds_at_it():.0f} s, TeX was typesetting."
        if self._timeline is not None:
            return self._timeline.now()
        return f"For the last {time.monotonic() - self._loading_since:.0f} s, the file was being loaded."
