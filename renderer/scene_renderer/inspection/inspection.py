"""An inspect job: creates the published files from untrusted ones.

It decodes the video and copies it with our own muxer (`remux.py`), creates a thumbnail, and parses and
rewrites the captions. No file written by a scene is published unchanged. The video comes from the running
render (`video/stream.py`), or afterwards as a file.
"""

import os
import socket
import stat
from pathlib import Path
from typing import BinaryIO

import av

from ..messages import InspectJob
from ..protocol import JobChannel
from ..scene_error import SceneError, too_large
from ..video import captions
from ..video.stream import End, Most, receive
from . import mp4_boxes, remux
from .received_video import ReceivedVideo
from .viewer import Viewer, check_size

# Probing selects decoders by the content of the file; only these are allowed.
_OPTIONS = {"format_whitelist": "mov", "codec_whitelist": "h264,aac", "protocol_whitelist": "none"}
_CAPTIONS_BYTES_MAX = 16 * 1024 * 1024
_RATE_TOLERANCE = 0.01


def inspect(job: InspectJob, folder: Path, channel: JobChannel, stream: socket.socket | None = None) -> None:
    """Write each artifact as ``published-NAME``, and report the outcome.

    The video is read from a stream if there is one, else from ``video.mp4``.
    """
    try:
        frames = _inspect_stream(job, folder, stream) if stream else _inspect_file(job, folder)
    except SceneError as error:
        channel.failed(str(error), error.failed_by)
    except MemoryError:
        channel.failed("The video needs more memory to be decoded than the limit.", "limit:memory")
    except Exception as error:
        channel.failed(f"The video can't be decoded: {type(error).__name__}.", "scene")
    else:
        channel.inspected(frames, frames / job.fps)


def _inspect_file(job: InspectJob, folder: Path) -> int:
    _rewrite_captions(folder / "captions.vtt", folder / "published-captions.vtt")
    with _open(folder / "video.mp4", "video") as file:
        size_bytes = os.fstat(file.fileno()).st_size
        if size_bytes > job.limits.output_bytes:
            raise too_large(job.limits.output_bytes)
        samples_max = job.limits.frames + remux.sound_frames_max(job.limits.frames, job.fps)
        mp4_boxes.check(file, size_bytes, samples_max=samples_max)
        # The format is fixed, because other formats can refer to further files.
        with av.open(file, "r", format="mp4", options=_OPTIONS) as container:
            return _decode(container, job, folder)


def _inspect_stream(job: InspectJob, folder: Path, connection: socket.socket) -> int:
    most = Most(remux.picture_part_bytes_max(job), remux.SOUND_BYTES_MAX, _CAPTIONS_BYTES_MAX)
    with ReceivedVideo(folder, job) as video:
        for part in receive(connection, most):
            if isinstance(part, End):
                if part.captions:
                    captions.write(captions.parse(part.captions), folder / "published-captions.vtt")
            else:
                video.add(part)
        video.finish()
    video.viewer.write_thumbnail(folder / "published-thumbnail.jpg")
    return video.viewer.frames


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


def _decode(container: av.container.InputContainer, job: InspectJob, folder: Path) -> int:
    kinds = [stream.type for stream in container.streams]
    if kinds not in (["video"], ["video", "audio"]):
        raise SceneError("The video doesn't hold one picture and at most one sound.")
    stream = container.streams.video[0]
    context = stream.codec_context
    rate = stream.average_rate
    if context.name != "h264" or not rate:
        raise SceneError("The video isn't H.264.")
    check_size(context, job)
    if abs(rate - job.fps) > job.fps * _RATE_TOLERANCE:
        raise SceneError(f"The video has {float(rate):g} frames per second, not {job.fps} as asked for.")
    for sound in container.streams.audio:
        if sound.codec_context.name != "aac":
            raise SceneError("The video's sound isn't AAC.")
    context.options = {"err_detect": "explode"}
    context.thread_type = "AUTO"
    viewer = Viewer(job)
    with remux.Remuxer(folder / "published-video.mp4", job, with_sound=len(kinds) > 1) as remuxer:
        remuxer.check_settings(container)
        for packet in container.demux():
            for frame in packet.decode():
                if isinstance(frame, av.VideoFrame):
                    viewer.view(frame)
            if packet.size:  # the last packets, which flush the decoders, are empty
                remuxer.add(packet)
        remuxer.finish()
    viewer.check_number(stream.frames)
    viewer.write_thumbnail(folder / "published-thumbnail.jpg")
    return viewer.frames
