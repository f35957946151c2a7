"""Outputs of single pictures, for ``scenepress render``."""

import tarfile
import tempfile
from pathlib import Path

from ..scene_error import too_large
from ..video.frames import Frame
from . import formats
from .picture import Shown
from .sound import Track


class Still:
    """A PNG of the last picture."""

    def __init__(self, *, transparent: bool) -> None:
        self.size_bytes = 0
        self._transparent = transparent
        self._png = b""

    def show(self, shown: Shown, _: Frame) -> None:
        """Keep the picture."""
        self._png = formats.to_png(shown.pixels, transparent=self._transparent)
        self.size_bytes = len(self._png)

    def finish(self) -> None:
        """Do nothing."""

    def write(self, path: Path, _: Track) -> None:
        """Write the picture."""
        path.write_bytes(self._png)


class PngSequence:
    """A PNG of each frame, in an archive. `digits`: of the numbers in their names."""

    def __init__(self, folder: Path, *, transparent: bool, digits: int, bytes_max: int) -> None:
        self.size_bytes = 0
        self._bytes_max = bytes_max
        self._transparent = transparent
        self._digits = digits
        self._number = 0
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed by `write`)
        self._archive = tarfile.open(fileobj=self._file, mode="w")  # noqa: SIM115

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture for some frames. Raises SceneError if the archive becomes too large."""
        data = formats.to_png(shown.pixels, transparent=self._transparent)
        self.size_bytes += len(data) * frame.count
        if self.size_bytes > self._bytes_max:
            raise too_large(self._bytes_max)
        for _ in range(frame.count):
            formats.add_to_tar(self._archive, f"{self._number:0{self._digits}}.png", data)
            self._number += 1

    def finish(self) -> None:
        """Complete the archive."""
        self._archive.close()

    def write(self, path: Path, _: Track) -> None:
        """Write the archive."""
        self._file.seek(0)
        with path.open("wb") as file:
            while chunk := self._file.read(1 << 20):
                file.write(chunk)
        self._file.close()
