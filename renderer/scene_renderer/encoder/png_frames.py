"""A PNG of each frame, in an archive."""

import tempfile
from abc import ABC, abstractmethod
from pathlib import Path

from ..scene_error import too_large
from ..video.frames import Frame
from . import formats
from .picture import Shown
from .sound import Track


class PngFrames(ABC):
    """An archive of pictures. `folder`: for what is written meanwhile; `noun`: of errors."""

    def __init__(self, folder: Path, noun: str, *, transparent: bool, bytes_max: int) -> None:
        self.size_bytes = 0
        self._noun = noun
        self._bytes_max = bytes_max
        self._transparent = transparent
        self._number = 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `write`)

    @abstractmethod
    def _append(self, number: int, png: bytes) -> None:
        """Append the picture of a frame, counted from 0."""

    @abstractmethod
    def finish(self) -> None:
        """Complete the archive."""

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture for some frames. Raises SceneError if the archive becomes too large."""
        data = formats.to_png(shown.pixels, transparent=self._transparent)
        self.size_bytes += len(data) * frame.count
        if self.size_bytes > self._bytes_max:
            raise too_large(self._bytes_max, self._noun)
        for _ in range(frame.count):
            self._append(self._number, data)
            self._number += 1

    def write(self, path: Path, _: Track) -> None:
        """Write the archive."""
        self._file.seek(0)
        with path.open("wb") as file:
            while chunk := self._file.read(1 << 20):
                file.write(chunk)
        self._file.close()
