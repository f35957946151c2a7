"""The files that movies are written to."""

import os
from pathlib import Path

import av

_TICKS_PER_SECOND = 1000


def create(path: Path, fps: int) -> av.container.OutputContainer:
    """Open an MP4 for so many frames per second. Its index will come first, so that it plays while it loads.

    It tells its length in milliseconds, or in frames where these are shorter: frames beyond it aren't shown.
    """
    options = {"movflags": "+faststart", "movie_timescale": str(max(_TICKS_PER_SECOND, fps))}
    return av.open(os.fspath(path), "w", format="mp4", options=options)
