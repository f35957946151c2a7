"""The sound of a scene, as it is sent."""

from typing import Any


def samples(segment: Any, first: int, frames: int, fps: int) -> tuple[int, bytes]:
    """Return the rate in hertz of a pydub segment, and its stereo samples of 16 bits.

    Those of a number of frames, from the first one on.
    """
    segment = segment.set_sample_width(2).set_channels(2)
    rate_hz = segment.frame_rate
    return rate_hz, segment.raw_data[first * rate_hz // fps * 4 : (first + frames) * rate_hz // fps * 4]
