"""An inspect job: creates the published files from untrusted ones.

It decodes the video and copies it with our own muxer (`remux.py`), creates a thumbnail, and parses and
rewrites the captions. No file written by a scene is published unchanged.
"""

import os
import stat
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

import av

from . import captions, mp4_boxes, remux
from .errors import SceneError, too_large
from .messages import InspectJob
from .protocol import JobChannel
from .thumbnail import BestFrame, to_jpeg

# Probing selects decoders by the content of the file; only these are allowed.
_OPTIONS = {"format_whitelist": "mov", "codec_whitelist": "h264,aac", "protocol_whitelist": "none"}
_CAPTIONS_BYTES_MAX = 16 * 1024 * 1024
_WIDTH_PX = 640
_LOOKS_PER_SECOND = 4
_RATE_TOLERANCE = 0.01


def inspect(job: InspectJob, folder: Path, channel: JobChannel) -> None:
    """Write ``published.mp4``, ``published.vtt`` and ``thumbnail.jpg``, and report the outcome."""
    try:
        report = _inspect(job, folder)
    except SceneError as error:
        channel.failed(str(error))
    except MemoryError:
        channel.failed("The video needs more memory to be decoded than the limit.")
    except Exception as error:
        channel.failed(f"The video can't be decoded: {type(error).__name__}.")
    else:
        channel.inspected(*report)


def _inspect(job: InspectJob, folder: Path) -> tuple[int, float]:
    _rewrite_captions(folder / "captions.vtt", folder / "published.vtt")
    with _open(folder / "video.mp4", "video") as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if size_bytes > job.limits.output_bytes:
            raise too_large(job.limits.output_bytes)
        samples_max = job.limits.frames + remux.sound_frames_max(job.limits.frames, job.fps)
        mp4_boxes.check(file, size_bytes, samples_max=samples_max)
        # The format is fixed, because other formats can refer to further files.
        with av.open(file, "r", format="mp4", options=_OPTIONS) as container:
            return _decode(container, job, folder)


def _open(path: Path, what: str) -> BinaryIO:
    # Doesn't block on pipes or follow links.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SceneError(f"The {what} isn't a regular file.")
    return open(descriptor, "rb")


def _rewrite_captions(path: Path, target: Path) -> None:
    """Write the parsed captions, if there are any."""
    try:
        with _open(path, "file with captions") as file:
            data = file.read(_CAPTIONS_BYTES_MAX + 1)
    except FileNotFoundError:
        return
    if len(data) > _CAPTIONS_BYTES_MAX:
        raise SceneError("The captions are too large.")
    captions.write(captions.parse(data), target)


def _decode(container: av.container.InputContainer, job: InspectJob, folder: Path) -> tuple[int, float]:
    kinds = [stream.type for stream in container.streams]
    if kinds not in (["video"], ["video", "audio"]):
        raise SceneError("The video doesn't hold one picture and at most one sound.")
    stream = container.streams.video[0]
    context = stream.codec_context
    rate = stream.average_rate
    if context.name != "h264" or not rate:
        raise SceneError("The video isn't H.264.")
    _check_size(context, job)
    if abs(rate - job.fps) > job.fps * _RATE_TOLERANCE:
        raise SceneError(f"The video has {float(rate):g} frames per second, not {job.fps} as asked for.")
    for sound in container.streams.audio:
        if sound.codec_context.name != "aac":
            raise SceneError("The video's sound isn't AAC.")
    context.options = {"err_detect": "explode"}
    context.thread_type = "AUTO"
    best = BestFrame(stride=max(1, round(rate / _LOOKS_PER_SECOND)))
    frames = 0
    with remux.Remuxer(folder / "published.mp4", container, job) as remuxer:
        for packet in container.demux():
            for frame in packet.decode():
                if isinstance(frame, av.VideoFrame):
                    frames += 1
                    if frames > job.limits.frames:
                        raise SceneError(f"The video is longer than the limit of {job.limits.frames} frames.")
                    _check_size(frame, job)  # it can change within the video
                    _check_time(frame, frames - 1, job)
                    best.offer(frame)
            if packet.size:  # the last packets, which flush the decoders, are empty
                remuxer.add(packet)
        remuxer.finish()
    if best.frame is None or frames != stream.frames:
        raise SceneError(f"The video is incomplete: {frames} of its {stream.frames} frames could be decoded.")
    _write(to_jpeg(best.frame, _WIDTH_PX), folder / "thumbnail.jpg")
    return frames, frames / job.fps


def _check_time(frame: av.VideoFrame, number: int, job: InspectJob) -> None:
    """Raise SceneError unless the frame's presentation time is exactly that of frame `number`."""
    if frame.pts is None or not frame.time_base or frame.pts * frame.time_base != Fraction(number, job.fps):
        raise SceneError(f"The video doesn't show {job.fps} frames in each second.")


def _check_size(picture: av.VideoFrame | av.VideoCodecContext, job: InspectJob) -> None:
    """Raise SceneError unless a picture has the requested size."""
    if (picture.width, picture.height) != (job.width_px, job.height_px):
        found = f"{picture.width} by {picture.height}"
        raise SceneError(
            f"The video is {found} pixels large, not {job.width_px} by {job.height_px} as asked for."
        )


def _write(data: bytes, path: Path) -> None:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
