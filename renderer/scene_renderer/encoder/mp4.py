"""MP4 output files and their encoder settings."""

import os
from fractions import Fraction
from pathlib import Path

import av
from av.video.reformatter import ColorRange, Colorspace

_TICKS_PER_SECOND = 1000
# Manim encodes with preset medium and CRF 23, each play on its own. These settings take half of its CPU time
# for videos that are a seventh larger on average, and never both larger and below it in SSIM or PSNR; mbtree,
# its look-ahead and subq add what the preset lacks for that. A longer look-ahead makes smaller videos, but it
# is encoded after the last frame of the scene, and costs time and memory. Without B-frames, videos are up to
# a third larger, but take a quarter less time, and pictures can be repeated (`repeats.py`).
# `npm run bench -- encoding` measures other settings.
OPTIONS = {
    "preset": "superfast",
    "crf": "18.7",
    "bf": "0",
    "mbtree": "1",
    "rc-lookahead": "10",
    "subq": "2",
    "8x8dct": "0",
    "partitions": "p8x8,i4x4",
}
SOUND_RATE_HZ = 48_000


def create(path: Path, fps: int) -> av.container.OutputContainer:
    """Create an MP4 whose index comes first, for progressive playback.

    Its duration is stored in milliseconds, or in frames if these are shorter: players cut frames beyond it.
    """
    options = {"movflags": "+faststart", "movie_timescale": str(max(_TICKS_PER_SECOND, fps))}
    return av.open(os.fspath(path), "w", format="mp4", options=options)


def add_video(
    container: av.container.OutputContainer, width_px: int, height_px: int, fps: int
) -> av.VideoStream:
    """Add the H.264 video track."""
    stream = container.add_stream("libx264", rate=fps, options=OPTIONS)
    stream.width, stream.height, stream.pix_fmt = width_px, height_px, "yuv420p"
    context = stream.codec_context
    context.time_base = Fraction(1, fps)
    # The colour space of swscale and the scene's frames. Without this tag, players assume BT.709 for HD video
    # and show wrong colours.
    context.colorspace = Colorspace.ITU601
    context.color_range = ColorRange.MPEG
    return stream


def add_sound(container: av.container.OutputContainer) -> av.AudioStream:
    """Add the stereo AAC track."""
    return container.add_stream("aac", rate=SOUND_RATE_HZ, layout="stereo")
