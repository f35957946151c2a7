"""Pictures of frames that were chosen: stills, and the thumbnail."""

from collections.abc import Sequence
from pathlib import Path

from ..scene_error import SceneError
from . import formats
from .picture import Shown
from .thumbnail import to_jpeg


class ChosenPictures:
    """A file of each chosen frame: a PNG, or a JPEG that is as wide as thumbnails are at most."""

    def __init__(self, names: Sequence[str], width_max_px: int) -> None:
        self._names = names
        self._width_max_px = width_max_px
        self._made: dict[str, bytes] = {}

    def __contains__(self, name: str) -> bool:
        """Whether there is, or will be, a file of this name."""
        return name in self._names

    def keep(self, number: int, shown: Shown) -> tuple[str, int]:
        """Keep the picture of the chosen frame with this number. Return its name and size in bytes."""
        name = self._names[number]
        is_jpeg = name.endswith(".jpg")
        self._made[name] = (
            to_jpeg(shown.frame(), self._width_max_px)
            if is_jpeg
            else formats.to_png(shown.pixels, transparent=False)
        )
        return name, len(self._made[name])

    def check(self) -> None:
        """Raise SceneError unless all frames were sent."""
        if len(self._made) < len(self._names):
            raise SceneError("The scene's process has not sent all pictures.")

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, data in self._made.items():
            (folder / name).write_bytes(data)
