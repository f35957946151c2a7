"""JPEG images of frames, and the selection of the best frame for a thumbnail."""

import io
from collections.abc import Callable

import av
import numpy as np
from av.video.reformatter import Interpolation
from PIL import Image

_QUALITY = 85
_SCORE_WIDTH_PX = 160
_BLANK = 0.05


def to_jpeg(frame: av.VideoFrame, width_max_px: int) -> bytes:
    """Return a frame as JPEG, scaled down to a width in pixels if it is wider."""
    rgb = _small(frame, width_max_px).to_ndarray()
    data = io.BytesIO()
    Image.fromarray(rgb).save(data, "JPEG", quality=_QUALITY, optimize=True)
    return data.getvalue()


class BestFrame:
    """Examines the frames of a video and keeps the one with the highest contrast.

    `stride`: examine only every `stride`-th frame after the first one that isn't blank; `width_max_px`: of
    the image that it makes.
    """

    def __init__(self, stride: int, width_max_px: int) -> None:
        self._best: av.VideoFrame | None = None
        self._width_max_px = width_max_px
        self._score = -1.0
        self._stride = stride
        self._offered = 0

    def offer(self, frame: Callable[[], av.VideoFrame], count: int) -> None:
        """Consider the picture of the next `count` frames; it may change afterwards."""
        is_due = -self._offered % self._stride < count
        self._offered += count
        if self._score < _BLANK or is_due:
            examined = frame()
            score = _contrast(examined)
            if score > self._score:
                self._best, self._score = _small(examined, self._width_max_px), score

    def to_jpeg(self) -> bytes:
        """Return the best frame as JPEG. There must have been one."""
        assert self._best is not None
        return to_jpeg(self._best, self._width_max_px)


def _contrast(frame: av.VideoFrame) -> float:
    """Return the mean distance of a frame's colours from their median; 0 if it is blank."""
    height = max(1, round(frame.height * _SCORE_WIDTH_PX / frame.width))
    small = frame.reformat(_SCORE_WIDTH_PX, height, "yuv444p", interpolation=Interpolation.AREA)
    planes = small.to_ndarray().reshape(3, -1).astype(np.int16)
    return float(np.abs(planes - np.median(planes, axis=1, keepdims=True)).mean())


def _small(frame: av.VideoFrame, width_max_px: int) -> av.VideoFrame:
    width = min(width_max_px, frame.width)
    height = max(1, round(frame.height * width / frame.width))
    return frame.reformat(width, height, "rgb24", interpolation=Interpolation.AREA)
