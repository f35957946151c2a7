"""Outputs of single pictures, for ``scenepress render``."""

import tarfile
from pathlib import Path

from ..video.frames import Frame
from . import formats
from .picture import Shown
from .png_frames import PngFrames
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


class PngSequence(PngFrames):
    """A PNG of each frame, in a tar. `digits`: of the numbers in their names."""

    def __init__(self, folder: Path, *, transparent: bool, digits: int, bytes_max: int) -> None:
        super().__init__(folder, "video", transparent=transparent, bytes_max=bytes_max)
        self._digits = digits
        self._archive = tarfile.open(fileobj=self._file, mode="w")  # noqa: SIM115

    def _append(self, number: int, png: bytes) -> None:
        formats.add_to_tar(self._archive, f"{number:0{self._digits}}.png", png)

    def finish(self) -> None:
        """Complete the archive."""
        self._archive.close()
