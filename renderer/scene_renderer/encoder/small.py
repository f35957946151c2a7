"""Animated pictures: smaller than the video and with fewer frames, because their formats compress little."""

from fractions import Fraction
from pathlib import Path

from ..video.frames import Form, Frame
from . import formats
from .picture import Shown, Size
from .sound import Track
from .video_file import VideoFile

SIDE_PX_MAX = 640
FPS_MAX = 25


class SmallVideo(VideoFile):
    """A video of every n-th frame, scaled down."""

    def __init__(self, form: Form, format_: formats.Format) -> None:
        self._size = size_within(form, SIDE_PX_MAX)
        self._step = -(-form.fps // FPS_MAX)
        self._before = 0  # frames
        super().__init__(form, format_, size=self._size, rate=Fraction(form.fps, self._step))

    def show(self, shown: Shown, frame: Frame) -> None:
        """Encode the picture for those of the frames that are kept."""
        first, self._before = self._before, self._before + frame.count
        for _ in range(-first % self._step, frame.count, self._step):
            picture = shown.frame(self._format.pixel_format, self._size)
            picture.time_base = 1 / self._rate
            self._keep(self._encoder.show(picture, 1, is_new=True))


class SmallGif(SmallVideo):
    """A GIF with one palette for all frames, made from an exact video."""

    def __init__(self, form: Form) -> None:
        super().__init__(form, formats.EXACT)

    def write(self, path: Path, sound: Track) -> None:
        """Write the finished GIF; it has no sound."""
        exact = path.with_name("exact.mov")
        super().write(exact, sound)
        formats.make_gif(exact, path, self._rate)
        exact.unlink()


def size_within(form: Form, side_px_max: int) -> Size:
    """Return the size of pictures whose longer side has at most so many pixels; width and height are even."""
    scale = min(1.0, side_px_max / max(form.width_px, form.height_px))
    return _even(form.width_px * scale), _even(form.height_px * scale)


def _even(length: float) -> int:
    return max(2, round(length / 2) * 2)
