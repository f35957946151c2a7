"""What all outputs of an encoding have in common."""

from pathlib import Path
from typing import Protocol

from ..video.frames import Frame
from .picture import Shown
from .sound import Track


class Output(Protocol):
    """What the frames of a video become."""

    @property
    def size_bytes(self) -> int:
        """The size so far."""

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture for some frames."""

    def finish(self) -> None:
        """Do what can be done before the file may be written."""

    def write(self, path: Path, sound: Track, /) -> None:
        """Write the file."""
