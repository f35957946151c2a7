"""The movie: one H.264 encoder for all frames of a scene, in its own thread."""

import math
import os
import queue
import tarfile
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias

import av
import numpy as np
import numpy.typing as npt

from ..messages import RenderJob
from ..protocol import JobChannel
from ..scene_error import SceneError, too_large, too_long
from . import captions, formats, mp4, sound
from .captions import Cue
from .conversion import Converter
from .formats import Format
from .stream import Sender
from .thumbnail import to_jpeg

# A fixed number of frame threads, so that the output doesn't depend on the machine.
_THREADS = 4
_QUEUE_BYTES = 67_108_864
_PREVIEW_WIDTH_PX = 320
# From this size on, NumPy asks the kernel for huge pages, which saves a thousand page faults for each frame.
_HUGE_PAGES_BYTES = 4_194_304

Pixels = npt.NDArray[Any]
Rows: TypeAlias = tuple[int, int]  # the first, and the one after the last


class Picture(Protocol):
    """A recorded frame, which is drawn by other threads."""

    def begin(self, pixels: Pixels, background: Pixels, first: int, end: int, /) -> None:
        """Replace the rows `first` to `end` by the background's and draw on them, in other threads.

        The pixels must not be used, and the background not be changed, until `wait` returns.
        """

    def wait(self) -> Rows:
        """Return when it has been drawn: the rows that it may have changed. Raises any error of Cairo."""


class Canvas:
    """The pixels of a frame. Rows outside of `rows` equal the background, if there is one."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        size = math.prod(shape)
        self.pixels: Pixels = np.empty(max(size, _HUGE_PAGES_BYTES), np.uint8)[:size].reshape(shape)
        self.background: Pixels | None = None
        self.rows: Rows = (0, shape[0])

    def differs(self, background: Pixels | None) -> Rows:
        """Return the rows that may differ from a background."""
        return self.rows if background is not None and background is self.background else self.all_rows

    @property
    def all_rows(self) -> Rows:
        """All rows."""
        return 0, self.pixels.shape[0]


@dataclass(frozen=True)
class _Shown:
    """The last frame that the encoder was given."""

    background: Pixels | None
    rows: Rows

    def changed(self, canvas: Canvas) -> Rows:
        """Return the rows in which the next frame may differ."""
        if self.background is None or self.background is not canvas.background:
            return canvas.all_rows
        (first, end), (canvas_first, canvas_end) = self.rows, canvas.rows
        return min(first, canvas_first), max(end, canvas_end)


class MovieEncoder:
    """Encodes frames into an MP4 whose index comes first, for progressive playback.

    The file gets its final name when it is complete.
    """

    def __init__(
        self, path: Path, job: RenderJob, channel: JobChannel | None, format_: Format = formats.MP4
    ) -> None:
        if format_.pixel_format.startswith("yuv") and (job.width_px % 2 or job.height_px % 2):
            raise SceneError(f"The video is {job.width_px} by {job.height_px} pixels: both must be even.")
        self.frames = 0
        self._format = format_
        self._path = path
        self._unfinished = path.with_name(f"{path.stem}.part{path.suffix}")
        self._job = job
        self._channel = channel
        self._shape = (job.height_px, job.width_px, 4)
        self._error: BaseException | None = None
        frame_bytes = job.height_px * job.width_px * 4
        self._queue: queue.Queue[tuple[Canvas, int, Picture | None] | None] = queue.Queue(
            max(2, min(8, _QUEUE_BYTES // frame_bytes))
        )
        self._is_emptied = False  # the None after the last frame has been taken
        self._canvases: list[Canvas] = []  # for reuse, the last one first: its memory is likely cached
        self._thread = threading.Thread(target=self._run, name="encoder", daemon=True)
        self._thread.start()

    def write(self, pixels: Pixels, repeat: int = 1) -> None:
        """Append a copy of a frame `repeat` times: uint8, height by width by RGBA.

        Raises SceneError if the movie becomes too long, and any error of the encoder.
        """
        canvas = self._canvas(pixels, repeat)
        np.copyto(canvas.pixels, pixels)
        canvas.background = None
        self._put(canvas, repeat, None)

    def write_picture(self, picture: Picture, background: Pixels) -> None:
        """Append a frame that is drawn meanwhile, over a background that does not change any more.

        Raises the same as `write`. Errors in drawing it are raised later.
        """
        canvas = self._canvas(background, 1)
        picture.begin(canvas.pixels, background, *canvas.differs(background))
        canvas.background = background
        self._put(canvas, 1, picture)

    def _canvas(self, pixels: Pixels, repeat: int) -> Canvas:
        """Return a canvas for a frame with pixels like these, if it may be appended to the movie."""
        if self._error:
            raise self._error
        if pixels.shape != self._shape or pixels.dtype != np.uint8:
            raise SceneError(
                f"The camera drew a frame of shape {pixels.shape} and type {pixels.dtype}; "
                f"expected {self._shape} and uint8."
            )
        if repeat < 1:
            raise SceneError(f"A frame can't be repeated {repeat} times.")
        limit = self._job.limits.frames
        if self.frames + repeat > limit:
            self.fail(too_long(limit))
        try:
            return self._canvases.pop()
        except IndexError:
            return Canvas(self._shape)

    def _put(self, canvas: Canvas, repeat: int, picture: Picture | None) -> None:
        self._queue.put((canvas, repeat, picture))
        self.frames += repeat
        if self._channel:
            self._channel.progress(self.frames, self.frames / self._job.fps)

    def fail(self, error: BaseException) -> NoReturn:
        """Raise an error now and on every later use of the movie: scenes may catch exceptions."""
        self._error = error
        raise error

    def finish(self, segment: Any) -> None:
        """Complete the file, with a pydub segment as its sound if there is one.

        Raises any error of the encoder.
        """
        self._await_encoder()
        if segment is not None and self._format.sound:
            silent = self._unfinished
            self._unfinished = self._path.with_name(f"{self._path.stem}.sound{self._path.suffix}")
            length = Fraction(self.frames, self._job.fps)
            sound.add(segment, silent, self._unfinished, self._format, length=length, fps=self._job.fps)
            silent.unlink()
        os.replace(self._unfinished, self._path)

    def add_captions(self, cues: list[Cue]) -> None:
        """Write the captions to a file beside the movie. Call it last."""
        captions.write(cues, self._path.with_name("captions.vtt"))

    def _await_encoder(self) -> None:
        self._queue.put(None)
        self._thread.join()
        if self._error:
            raise self._error

    def _run(self) -> None:
        try:
            self._encode()
        except BaseException as error:
            self._error = error
            while not self._is_emptied:
                self._next()  # the scene may be waiting for space in the queue

    def _take(self) -> tuple[Canvas, int] | None:
        """Return the next frame, drawn, and its number of repetitions; None, once, after the last."""
        if (item := self._next()) is None:
            return None
        canvas, repeat, picture = item
        canvas.rows = picture.wait() if picture else canvas.all_rows
        return canvas, repeat

    def _next(self) -> tuple[Canvas, int, Picture | None] | None:
        item = self._queue.get()
        self._is_emptied = item is None
        return item

    def _encode(self) -> None:
        job = self._job
        converter = Converter(self._format.pixel_format)
        preview_due = time.monotonic() if job.preview_interval_ms else float("inf")
        size = 0
        shown = _Shown(None, (0, 0))
        with self._create() as container:
            stream = self._format.add_video(container, job.width_px, job.height_px, job.fps)
            context = stream.codec_context
            context.thread_count = _THREADS
            context.thread_type = "FRAME"
            encoder = self._format.encoder(stream)
            while (item := self._take()) is not None:
                canvas, repeat = item
                frame = converter.convert(canvas.pixels, shown.changed(canvas))
                shown = _Shown(canvas.background, canvas.rows)
                self._canvases.append(canvas)
                frame.time_base = Fraction(1, job.fps)
                for packet in encoder.show(frame, repeat, is_new=converter.is_changed):
                    size += packet.size
                    self._append(packet, container)
                if size > job.limits.output_bytes:
                    raise too_large(job.limits.output_bytes)
                if self._channel and time.monotonic() >= preview_due:
                    self._channel.preview(to_jpeg(frame, _PREVIEW_WIDTH_PX))
                    preview_due = time.monotonic() + job.preview_interval_ms / 1000
            for packet in encoder.finish():
                self._append(packet, container)

    def _create(self) -> av.container.OutputContainer:
        return self._format.create(self._unfinished, self._job.fps)

    def _append(self, packet: "av.Packet[Any]", container: av.container.OutputContainer) -> None:
        container.mux(packet)


class StreamedMovie(MovieEncoder):
    """An MP4 whose packets are sent to the inspection, which writes the file."""

    def __init__(self, path: Path, job: RenderJob, channel: JobChannel | None, sender: Sender) -> None:
        self._sender = sender  # before the encoder's thread starts
        super().__init__(path, job, channel)

    def finish(self, segment: Any) -> None:
        """Send the remaining packets and the packets of a pydub segment."""
        self._await_encoder()
        if segment is None:
            return
        length = Fraction(self.frames, self._job.fps)
        with self._create() as container:
            audio = mp4.add_sound(container)
            for packet in sound.encode(segment, audio, self._format, length):
                self._sender.sound(packet)

    def add_captions(self, cues: list[Cue]) -> None:
        """Send the captions; the video is complete."""
        self._sender.end(captions.text_of(cues))

    def _create(self) -> av.container.OutputContainer:
        # The encoders' settings depend on the container; nothing is written to it.
        return self._format.create(Path(os.devnull), self._job.fps)

    def _append(self, packet: "av.Packet[Any]", container: av.container.OutputContainer) -> None:
        self._sender.picture(packet)


class Gif(MovieEncoder):
    """A GIF, made from a lossless video."""

    def finish(self, segment: Any) -> None:
        """Complete the file; it has no sound."""
        super().finish(None)
        lossless = self._path.with_name("lossless.mov")
        os.replace(self._path, lossless)
        formats.make_gif(lossless, self._path, self._job.fps)
        lossless.unlink()


class FrameSequence(MovieEncoder):
    """A PNG file of each frame, in an archive."""

    def finish(self, segment: Any) -> None:
        """Complete the archive."""
        super().finish(None)

    def _encode(self) -> None:
        digits = int(self._local("zero_pad", "4"))
        size = number = 0
        with tarfile.open(self._unfinished, "w") as archive:
            while (item := self._take()) is not None:
                canvas, repeat = item
                data = formats.to_png(
                    canvas.pixels, transparent=bool(self._job.local and self._job.local.transparent)
                )
                self._canvases.append(canvas)
                for _ in range(repeat):
                    size += len(data)
                    if size > self._job.limits.output_bytes:
                        raise too_large(self._job.limits.output_bytes)
                    formats.add_to_tar(archive, f"{number:0{digits}}.png", data)
                    number += 1

    def _local(self, name: str, default: str) -> str:
        return self._job.local.config.get(name, default) if self._job.local else default


class Still(FrameSequence):
    """The last picture of a scene, whose plays are skipped."""

    def save(self, pixels: Pixels) -> None:
        """Write the picture."""
        transparent = bool(self._job.local and self._job.local.transparent)
        self._path.write_bytes(formats.to_png(pixels, transparent=transparent))

    def finish(self, segment: Any) -> None:
        """Do nothing: `save` has completed the file."""
        self._queue.put(None)
        self._thread.join()

    def _encode(self) -> None:
        while self._take() is not None:
            continue


def create(job: RenderJob, folder: Path, channel: JobChannel, sender: Sender | None) -> MovieEncoder:
    """Begin the output that a job asks for, in its folder, or by a sender."""
    local = job.local
    if sender:
        return StreamedMovie(folder / "video.mp4", job, channel, sender)
    if local is None or local.format == "mp4":
        return MovieEncoder(folder / "video.mp4", job, channel)
    if local.format == "png":
        return Still(folder / "output.png", job, channel, formats.PICTURES)
    if local.format == "png-sequence":
        return FrameSequence(folder / "frames.tar", job, channel, formats.PICTURES)
    kind = Gif if local.format == "gif" else MovieEncoder
    format_ = formats.video_format(local.format, transparent=local.transparent)
    return kind(folder / f"output.{local.format}", job, channel, format_)
