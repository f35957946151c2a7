"""An encode job: receives the pictures of a scene and writes the files of its job.

The scene sends pixels, PCM and texts (`video/frames.py`), whose sizes are limited before they are received.
So no decoder reads anything that a scene has encoded.
"""

import socket
import time
from pathlib import Path
from typing import Protocol

import av

from ..messages import EncodeJob
from ..protocol import JobChannel
from ..scene_error import SceneError, failure_of, too_large
from ..video.frames import Cue, CutOffError, Form, Frame, Receiver, Section, Sound
from . import captions, formats
from .contact_sheet import Pictures
from .index import EarlierFiles
from .picture import Shown
from .pictures import PngSequence, Still
from .sections import SectionVideos
from .sound import Track
from .thumbnail import BestFrame, to_jpeg
from .video_file import Gif, IndexedVideo, VideoFile

_PREVIEW_WIDTH_PX = 320
_THUMBNAIL_WIDTH_PX = 640
_LOOKS_PER_SECOND = 4
_TOO_MUCH_MEMORY = "The video needs more memory to be encoded than the limit."


class Output(Protocol):
    """What the frames of a video become."""

    size_bytes: int

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture for some frames."""

    def finish(self) -> None:
        """Do what can be done before the file may be written."""

    def write(self, path: Path, sound: Track, /) -> None:
        """Write the file."""


def encode(
    job: EncodeJob,
    folder: Path,
    channel: JobChannel,
    connection: socket.socket,
    earlier: EarlierFiles | None = None,
) -> None:
    """Write the files of a job into its folder and report the outcome; nothing if the render breaks off.

    `earlier`: a video whose frames are copied where they are equal.
    """
    try:
        encoding = _Encoding(job, folder, channel, Receiver(connection, job.limits.frames), earlier)
        form, frames = encoding.run()
    except CutOffError:
        return
    except SceneError as error:
        channel.failed(failure_of(error))
    except MemoryError:
        channel.failed(failure_of(SceneError(_TOO_MUCH_MEMORY, "limit:memory")))
    except av.error.FFmpegError as error:
        channel.failed(failure_of(SceneError(f"The video can't be encoded: {error}.")))
    else:
        channel.encoded(frames, form.fps, encoding.copied_frames)


class _Encoding:
    def __init__(
        self,
        job: EncodeJob,
        folder: Path,
        channel: JobChannel,
        receiver: Receiver,
        earlier: EarlierFiles | None,
    ) -> None:
        self.copied_frames = 0
        self._earlier = earlier
        self._job = job
        self._folder = folder
        self._channel = channel
        self._receiver = receiver
        self._sound = Track()
        self._cues: list[Cue] = []
        self._preview_due = time.monotonic() if job.preview_interval_ms else float("inf")

    def run(self) -> tuple[Form, int]:
        """Receive the whole video and write its files. Return its form and number of frames."""
        parts = self._receiver.parts()
        form = next(parts, None)
        if not isinstance(form, Form):
            raise SceneError("The scene's process sent no video.")
        self._check(form)
        shown = Shown(form, self._receiver.picture)
        name, output = self._output(form)
        local = self._job.local
        sections = (
            SectionVideos(form, self._job.class_name, transparent=local.transparent)
            if local and local.sections
            else None
        )
        best = BestFrame(max(1, round(form.fps / _LOOKS_PER_SECOND)), _THUMBNAIL_WIDTH_PX)
        for part in parts:
            match part:
                case Frame():
                    shown.change(part.rows)
                    output.show(shown, part)
                    if sections:
                        sections.show(shown, part)
                    self._limit(output.size_bytes + (sections.size_bytes if sections else 0))
                    best.offer(shown.frame, part.count)
                    self._preview(shown)
                case Section() if sections:
                    sections.begin(part)
                case Section():
                    raise SceneError("The scene's process sent a section that was not asked for.")
                case Sound():
                    self._sound.add(part)
                case Cue():
                    self._cues.append(part)
        if not self._receiver.frames:
            raise SceneError("The scene's process sent a video without a picture.")
        output.finish()
        if sections:
            sections.finish()
        text = captions.text_of(self._cues)
        self._channel.await_end_of_render()
        output.write(self._folder / name, self._sound)
        self._limit((self._folder / name).stat().st_size)  # also what encoders held back, and the sound
        if isinstance(output, IndexedVideo):
            output.write_index(self._folder / name, self._folder / "video.index")
            self.copied_frames = output.copied_frames
        if sections:
            sections.write(self._folder / "sections.tar")
        if text:
            (self._folder / "captions.vtt").write_text(text, encoding="utf-8", errors="replace")
        if name == "video.mp4":
            (self._folder / "thumbnail.jpg").write_bytes(best.to_jpeg())
        return form, self._receiver.frames

    def _check(self, form: Form) -> None:
        """Raise SceneError unless a video has the form of the job. A local scene may set its own."""
        job = self._job
        if not job.local and (form.width_px, form.height_px, form.fps) != (
            job.width_px,
            job.height_px,
            job.fps,
        ):
            raise SceneError("The scene's process sent a video of another size or rate than was requested.")

    def _output(self, form: Form) -> tuple[str, Output]:
        local = self._job.local
        if self._job.makes == "still":
            return "output.png", Still(transparent=False)
        if self._job.makes == "pictures":
            return "sheet.jpg", Pictures()
        if local is None or local.format == "mp4":
            is_indexed = self._job.is_indexed
            return "video.mp4", (
                IndexedVideo(form, self._earlier) if is_indexed else VideoFile(form, formats.MP4)
            )
        if local.format == "png":
            return "output.png", Still(transparent=local.transparent)
        if local.format == "png-sequence":
            return "frames.tar", PngSequence(
                self._folder,
                transparent=local.transparent,
                digits=int(local.config.get("zero_pad", "4")),
                bytes_max=self._job.limits.output_bytes,
            )
        kind = Gif if local.format == "gif" else VideoFile
        format_ = formats.video_format(local.format, transparent=local.transparent)
        return f"output.{local.format}", kind(form, format_)

    def _limit(self, size_bytes: int) -> None:
        if size_bytes > self._job.limits.output_bytes:
            raise too_large(self._job.limits.output_bytes)

    def _preview(self, shown: Shown) -> None:
        now = time.monotonic()
        if now >= self._preview_due:
            self._channel.preview(to_jpeg(shown.frame(), _PREVIEW_WIDTH_PX))
            self._preview_due = now + self._job.preview_interval_ms / 1000
