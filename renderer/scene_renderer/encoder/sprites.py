"""Small pictures of a video, which players show while seeking: a sheet, and WebVTT with the place of each."""

from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from ..video.frames import Form, Frame
from .captions import timestamp
from .picture import Shown
from .small import size_within
from .sound import Track

SIDE_PX = 160
COUNT_MAX = 100
_COLUMNS = 10
_PER_SECOND = 4
_QUALITY = 80


@dataclass(frozen=True)
class _Small:
    frame: int
    picture: Image.Image


class Sprites:
    """Pictures at equal intervals: four a second, or fewer if they would be too many."""

    def __init__(self, form: Form) -> None:
        self.size_bytes = 0
        self._fps = form.fps
        self._size = size_within(form, SIDE_PX)
        self._interval = max(1, form.fps // _PER_SECOND)
        self._frames = 0
        self._pictures: list[_Small] = []

    def show(self, shown: Shown, frame: Frame) -> None:
        """Keep the picture if it is due."""
        picture: Image.Image | None = None
        first, self._frames = self._frames, self._frames + frame.count
        for number in range(first, self._frames):
            if number % self._interval:
                continue
            picture = picture or Image.fromarray(shown.frame("rgb24", self._size).to_ndarray())
            self._pictures.append(_Small(number, picture))
            if len(self._pictures) > COUNT_MAX:
                self._interval *= 2
                self._pictures = [small for small in self._pictures if small.frame % self._interval == 0]

    def finish(self) -> None:
        """Do nothing."""

    def write(self, path: Path, _: Track) -> None:
        """Write the sheet, and the places beside it."""
        width, height = self._size
        rows = -(-len(self._pictures) // _COLUMNS)
        sheet = Image.new("RGB", (min(_COLUMNS, len(self._pictures)) * width, rows * height))
        blocks: list[str] = []
        ends = [*(small.frame for small in self._pictures[1:]), self._frames]
        for index, (small, end) in enumerate(zip(self._pictures, ends, strict=True)):
            row, column = divmod(index, _COLUMNS)
            x, y = column * width, row * height
            sheet.paste(small.picture, (x, y))
            times = f"{self._timestamp(small.frame)} --> {self._timestamp(end)}"
            blocks.append(f"{times}\n{path.name}#xywh={x},{y},{width},{height}\n")
        sheet.save(path, "JPEG", quality=_QUALITY, optimize=True)
        path.with_suffix(".vtt").write_text("WEBVTT\n\n" + "\n".join(blocks), encoding="utf-8")

    def _timestamp(self, frame: int) -> str:
        return timestamp(round(frame * 1000 / self._fps))
