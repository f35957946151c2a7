"""Reports the output of a scene, and warnings of the scene and of Manim, to the service."""

import codecs
import io
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..protocol import JobChannel
from . import author_frames

_CHARACTERS_MAX = 32_768


class _Stream(io.RawIOBase):
    """A binary stream whose text is reported; the rest is dropped once there is too much."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._process = os.getpid()

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if os.getpid() == self._process:  # else a process that the scene has forked
            self._report(self._decoder.decode(bytes(data)))
        return len(data)


class _Log(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{record.levelname}: {record.getMessage()}\n")


def capture(channel: JobChannel, folder: Path) -> None:
    """Report everything that is printed, warned or logged from now on; `folder`: the job's."""
    left = _CHARACTERS_MAX
    lock = threading.RLock()

    def report(text: str) -> None:
        nonlocal left
        with lock:
            if left > 0 and text:
                left -= len(text)
                channel.output(text)
                if left <= 0:
                    channel.output("\n(Further output was left out.)\n")

    def stream() -> io.TextIOWrapper:
        return io.TextIOWrapper(
            io.BufferedWriter(_Stream(report)),
            encoding="utf-8",
            errors="backslashreplace",
            line_buffering=True,
            write_through=True,
        )

    sys.stdout, sys.stderr = stream(), stream()

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any
    ) -> None:
        name = author_frames.shown_name(filename, folder)
        place = f"{name}:{lineno}: " if name else ""
        sys.stderr.write(f"{place}{category.__name__}: {message}\n")

    warnings.showwarning = show
    logger = logging.getLogger("manim")
    logger.handlers[:] = [_Log(logging.WARNING)]


def finish() -> None:
    """Report what is still in the buffers."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed or replaced by the scene
            continue
