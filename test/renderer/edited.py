"""Videos of pictures, one of which is an edited version of another."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from scene_renderer.encoder.index import EarlierFiles
from scene_renderer.encoder.picture import Shown
from scene_renderer.encoder.sound import Track
from scene_renderer.encoder.video_file import IndexedVideo
from scene_renderer.video.frames import Form, Frame

Pixels: TypeAlias = npt.NDArray[np.uint8]
Shot: TypeAlias = tuple[int, int]  # the number of a picture, and how many frames show it
FORM = Form(160, 90, 30, "yuv420p")


def picture(number: int, form: Form = FORM) -> Pixels:
    """A grey picture with the digits of a number and a square at a place that depends on it; 0: without."""
    pixels = np.full((form.height_px * 3 // 2, form.width_px), 128, np.uint8)
    if number:
        place = number * 7 % (form.width_px - 40)
        pixels[20:60, place : place + 40] = 50 + number * 13 % 180
        for digit in range(16):
            pixels[70:78, digit * 10 : digit * 10 + 8] = 200 if number >> digit & 1 else 60
    return pixels


def play(first: int, frames: int = 20) -> list[Shot]:
    """A play that moves the square."""
    return [(number, 1) for number in range(first, first + frames)]


def encoded(
    folder: Path, plays: Sequence[Sequence[Shot]], earlier: Path | None = None, form: Form = FORM
) -> int:
    """Write `video.mp4` and `video.index` into a new folder; return how many frames are copies."""
    if earlier:
        with (earlier / "video.index").open("rb") as index, (earlier / "video.mp4").open("rb") as video:
            return _encoded(folder, plays, form, (index, video))
    return _encoded(folder, plays, form, None)


def _encoded(folder: Path, plays: Sequence[Sequence[Shot]], form: Form, earlier: EarlierFiles | None) -> int:
    folder.mkdir()
    video = IndexedVideo(form, earlier)
    pixels = form.new_picture()
    shown = Shown(form, pixels)
    before = None
    for shots in plays:
        for place, (number, count) in enumerate(shots):
            rows = (0, form.height_px) if number != before else (0, 0)
            pixels[:] = picture(number, form)
            shown.change(rows)
            video.show(shown, Frame(count, rows, begins_play=place == 0))
            before = number
    video.finish()
    video.write(folder / "video.mp4", Track())
    video.write_index(folder / "video.mp4", folder / "video.index")
    return video.copied_frames
