"""The picture that a video shows, as the encoders take it."""

from fractions import Fraction
from typing import TypeAlias

import av
import numpy as np
from av.video.reformatter import Interpolation, VideoReformatter

from ..video.frames import Form, Pixels, Rows

# Width and height in pixels.
Size: TypeAlias = tuple[int, int]

_ACCURATE = Interpolation.BILINEAR | Interpolation.ACCURATE_RND


class Shown:
    """A picture that changes from frame to frame, in any pixel format. `pixels`: those that were received."""

    def __init__(self, form: Form, pixels: Pixels) -> None:
        self.pixels = pixels
        self._time_base = Fraction(1, form.fps)
        self._reformatter = VideoReformatter()
        self._plain = av.VideoFrame(form.width_px, form.height_px, form.pixels)
        self._plain.time_base = self._time_base
        planes = form.planes(pixels)
        # The rows of a frame are longer than those that are received.
        self._planes = [
            (received, np.asarray(memoryview(plane), np.uint8).reshape(-1, plane.line_size)[: len(received)])
            for received, plane in zip(planes, self._plain.planes, strict=True)
        ]
        self._height_px = form.height_px
        self._converted: dict[tuple[str, Size | None], av.VideoFrame] = {}
        self._changed = range(0)  # rows that were received, but not taken over

    def change(self, rows: Rows) -> None:
        """Note that the received pixels of some rows have changed."""
        first, end = rows
        if self._changed and first < end:
            first, end = min(first, self._changed.start), max(end, self._changed.stop)
        if first < end:
            self._changed = range(first, end)

    def frame(self, pixel_format: str | None = None, size: Size | None = None) -> av.VideoFrame:
        """Return the picture in a pixel format, or as it was received, and possibly scaled to a size.

        It is valid until the pixels change.
        """
        if self._changed:
            self._take_over(self._changed)
            self._changed = range(0)
        form = pixel_format or self._plain.format.name
        if size == (self._plain.width, self._plain.height):
            size = None
        if form == self._plain.format.name and size is None:
            return self._plain
        if (form, size) not in self._converted:
            self._converted[form, size] = self._scaled(form, size) if size else self._reformatted(form)
        frame = self._converted[form, size]
        frame.time_base = self._time_base
        return frame

    def _reformatted(self, pixel_format: str) -> av.VideoFrame:
        return self._reformatter.reformat(self._plain, format=pixel_format, interpolation=_ACCURATE)

    def _scaled(self, pixel_format: str, size: Size) -> av.VideoFrame:
        return self._plain.reformat(*size, pixel_format, interpolation=Interpolation.AREA)

    def _take_over(self, rows: range) -> None:
        for received, plane in self._planes:
            step = self._height_px // len(received)
            part = slice(rows.start // step, rows.stop // step)
            plane[part, : received.shape[1]] = received[part]
        self._converted.clear()
