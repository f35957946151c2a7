"""An inspect job: decode a video whose bytes may be hostile, and make its thumbnail."""

import os
import stat
from pathlib import Path

import av

from .errors import SceneError, too_large
from .protocol import InspectJob, JobChannel
from .thumbnail import BestFrame, to_jpeg

_WIDTH_PX = 640
_LOOKS_PER_SECOND = 4
_RATE_TOLERANCE = 0.01


def inspect(job: InspectJob, folder: Path, channel: JobChannel) -> None:
    """Decode ``video.mp4``, write ``thumbnail.jpg`` and report the outcome."""
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


def _inspect(job: InspectJob, folder: Path) -> tuple[int, float, int, int]:
    # Not blocked by a pipe, not led elsewhere by a link.
    descriptor = os.open(folder / "video.mp4", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise SceneError("The video isn't a regular file.")
    if status.st_size > job.limits.output_bytes:
        raise too_large(job.limits.output_bytes)
    # The format is given: others can refer to further files.
    with open(descriptor, "rb") as file, av.open(file, "r", format="mp4") as container:
        return _decode(container, job, folder)


def _decode(
    container: av.container.InputContainer, job: InspectJob, folder: Path
) -> tuple[int, float, int, int]:
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
    context.options = {"err_detect": "explode"}
    context.thread_type = "AUTO"
    best = BestFrame(stride=max(1, round(rate / _LOOKS_PER_SECOND)))
    frames = 0
    for frame in container.decode():
        if isinstance(frame, av.VideoFrame):
            frames += 1
            if frames > job.limits.frames:
                raise SceneError(f"The video is longer than the limit of {job.limits.frames} frames.")
            _check_size(frame, job)  # it can change in between
            best.offer(frame)
    if best.frame is None or frames != stream.frames:
        raise SceneError(f"The video is incomplete: {frames} of its {stream.frames} frames could be decoded.")
    _write(to_jpeg(best.frame, _WIDTH_PX), folder / "thumbnail.jpg")
    return frames, float(frames / rate), context.width, context.height


def _check_size(picture: av.VideoFrame | av.VideoCodecContext, job: InspectJob) -> None:
    """Raise SceneError unless a picture has the size that was asked for, and is paid for."""
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
