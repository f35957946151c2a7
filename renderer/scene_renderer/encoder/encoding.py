"""An encode job: receives the pictures of a scene and writes the files of its job.

The scene sends pixels, PCM and texts (`video/frames.py`), whose sizes are limited before they are received.
So no decoder reads anything that a scene has encoded.
"""

import socket
import time
from pathlib import Path

import av

from ..messages import EncodeJob
from ..protocol import JobChannel
from ..scene_error import SceneError, failure_of, too_large
from ..video.frames import Cue, CutOffError, Form, Frame, Mark, Receiver, Section, Sound
from . import captions, formats
from .archives import SectionArchive
from .chosen import ChosenPictures
from .contact_sheet import Pictures
from .index import EarlierFiles
from .others import NOUNS, Outputs, outputs_of
from .output import Output
from .picture import Shown
from .pictures import PngSequence, Still
from .presentation import Presentation
from .sections import SectionVideos
from .sound import Track
from .thumbnail import BestFrame, to_jpeg
from .video_file import Gif, IndexedVideo, VideoFile

_PREVIEW_WIDTH_PX = 320
_THUMBNAIL_WIDTH_PX = 640
_LOOKS_PER_SECOND = 4
_TOO_MUCH_MEMORY = "The video needs more memory to be encoded than the limit."


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
        receiver = Receiver(connection, job.limits.frames, len(job.pictures))
        encoding = _Encoding(job, folder, channel, receiver, earlier)
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
        outputs = self._outputs(form)
        sections = self._sections(outputs)
        chosen = ChosenPictures(self._job.pictures, _THUMBNAIL_WIDTH_PX)
        best = BestFrame(max(1, round(form.fps / _LOOKS_PER_SECOND)), _THUMBNAIL_WIDTH_PX)
        for part in parts:
            match part:
                case Frame():
                    shown.change(part.rows)
                    for name, output in outputs.items():
                        output.show(shown, part)
                        self._limit(output.size_bytes, name)
                    best.offer(shown.frame, part.count)
                    self._preview(shown)
                case Mark():
                    name, size_bytes = chosen.keep(part.number, shown)
                    self._limit(size_bytes, name)
                case Section() if sections:
                    for by_section in sections:
                        by_section.begin(part)
                case Section():
                    raise SceneError("The scene's process sent a section that was not asked for.")
                case Sound():
                    self._sound.add(part)
                case Cue():
                    self._cues.append(part)
        if not self._receiver.frames:
            raise SceneError("The scene's process sent a video without a picture.")
        chosen.check()
        for output in outputs.values():
            output.finish()
        texts = self._texts()
        self._channel.await_end_of_render()
        for name, text in texts.items():
            if text:
                (self._folder / name).write_text(text, encoding="utf-8", errors="replace")
        for name, output in outputs.items():
            self._write(name, output)
        if "m4a" in self._job.formats and self._sound:
            self._sound.write(self._folder / "sound.m4a", formats.SOUND)
        chosen.write(self._folder)
        if "video.mp4" in outputs and "thumbnail.jpg" not in chosen:
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

    def _outputs(self, form: Form) -> Outputs:
        """Return what the frames become, by the names of the files."""
        job = self._job
        outputs = outputs_of(job, form, self._folder)
        if job.is_other:
            return outputs
        name, output = self._output(form)
        outputs = {name: output} | outputs
        if job.local and job.local.sections:
            outputs["sections.tar"] = SectionVideos(form, job.class_name, transparent=job.local.transparent)
        return outputs

    def _sections(self, outputs: Outputs) -> list[SectionVideos | SectionArchive | Presentation]:
        kinds = SectionVideos | SectionArchive | Presentation
        return [output for output in outputs.values() if isinstance(output, kinds)]

    def _texts(self) -> dict[str, str]:
        """Return the captions by the names of their files."""
        if self._job.is_other:
            return {}
        texts = {"captions.vtt": captions.text_of(self._cues)}
        if "srt" in self._job.formats:
            texts["captions.srt"] = captions.subrip_of(self._cues)
        return texts

    def _write(self, name: str, output: Output) -> None:
        path = self._folder / name
        output.write(path, self._sound)
        self._limit(path.stat().st_size, name)  # also what encoders held back, and the sound
        if isinstance(output, IndexedVideo):
            output.write_index(path, self._folder / "video.index")
            self.copied_frames = output.copied_frames

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

    def _limit(self, size_bytes: int, name: str) -> None:
        if size_bytes > self._job.limits.output_bytes:
            raise too_large(self._job.limits.output_bytes, NOUNS.get(name, "video"))

    def _preview(self, shown: Shown) -> None:
        now = time.monotonic()
        if now >= self._preview_due:
            self._channel.preview(to_jpeg(shown.frame(), _PREVIEW_WIDTH_PX))
            self._preview_due = now + self._job.preview_interval_ms / 1000
