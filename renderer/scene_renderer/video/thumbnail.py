"""JPEG images of frames, and the selection of the best frame for a thumbnail."""

import io

import av
import numpy as np
from av.video.reformatter import Interpolation
from PIL import Image

_QUALITY = 85
_SCORE_WIDTH_PX = 160
_BLANK = 0.05


def to_jpeg(frame: av.VideoFrame, width_max_px: int) -> bytes:
    """Return a frame as JPEG, scaled down to a width in pixels if it is wider."""
    width = min(width_max_px, frame.width)
    height = max(1, round(frame.height * width / frame.width))
    rgb = frame.reformat(width, height, "rgb24", interpolation=Interpolation.AREA).to_ndarray()
    data = io.BytesIO()
    Image.fromarray(rgb).save(data, "JPEG", quality=_QUALITY, optimize=True)
    return data.getvalue()


class BestFrame:
    """Examines the frames of a video and keeps the one with the highest contrast.

    `stride`: examine only every `stride`-th frame after the first one that isn't blank.
    """

    def __init__(self, stride: int) -> None:
        self.frame: av.VideoFrame | None = None
        self._score = -1.0
        self._stride = stride
        self._offered = 0

    def offer(self, frame: av.VideoFrame) -> None:
        """Consider the next frame."""
        if self._score < _BLANK or self._offered % self._stride == 0:
            score = _contrast(frame)
            if score > self._score:
                self.frame, self._score = frame, score
        self._offered += 1


def _contrast(frame: av.VideoFrame) -> float:
    """Return the mean distance of a frame's colours from their median; 0 if it is blank."""
    height = max(1, round(frame.height * _SCORE_WIDTH_PX / frame.width))
    small = frame.reformat(_SCORE_WIDTH_PX, height, "yuv444p", interpolation=Interpolation.AREA)
    planes = small.to_ndarray().reshape(3, -1).astype(np.int16)
    return float(np.abs(planes - np.median(planes, axis=1, keepdims=True)).mean())
