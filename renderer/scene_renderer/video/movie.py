"""The movie of a scene, whose frames a thread of its own converts and sends to the encoder's process."""

import math
import queue
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from ..messages import RenderJob
from ..protocol import JobChannel
from ..scene_error import SceneError, too_long
from . import sound
from .chosen import Chosen
from .conversion import Area, Converter, best_for
from .frames import Cue, Form, Mark, Section, Sender

Pixels: TypeAlias = npt.NDArray[Any]  # as Manim types them; refused unless they are bytes

_QUEUE_BYTES = 67_108_864
# From this size on, NumPy asks the kernel for huge pages, which saves a thousand page faults for each frame.
_HUGE_PAGES_BYTES = 4_194_304


class Picture(Protocol):
    """A recorded frame, which is drawn by other threads."""

    def begin(self, pixels: Pixels, background: Pixels, area: Area, /) -> None:
        """Replace an area by the background's and draw on the pixels, in other threads.

        The pixels must not be used, and the background not be changed, until `wait` returns.
        """

    def wait(self) -> Area:
        """Return when it has been drawn: the area that it may have changed. Raises any error of Cairo."""

    def changed_since(self, other: Any, /) -> Area:
        """Return where it may differ from another one that was drawn over the same background."""


class Canvas:
    """The pixels of a frame. Those outside of `drawn` equal the background, if there is one."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        size = math.prod(shape)
        self.pixels: Pixels = np.empty(max(size, _HUGE_PAGES_BYTES), np.uint8)[:size].reshape(shape)
        self.background: Pixels | None = None
        self.whole: Area = 0, 0, shape[1], shape[0]
        self.drawn = self.whole

    def differs(self, background: Pixels | None) -> Area:
        """Return the area that may differ from a background."""
        return self.drawn if background is not None and background is self.background else self.whole


@dataclass(frozen=True)
class _Shown:
    """The last frame that was sent. Both are None if it was not recorded."""

    background: Pixels | None
    picture: Picture | None

    def changed(self, canvas: Canvas, picture: Picture | None) -> Area:
        """Return the area in which the next frame may differ."""
        if self.picture is None or picture is None or self.background is not canvas.background:
            return canvas.whole
        return picture.changed_since(self.picture)


@dataclass(frozen=True)
class _Queued:
    """A frame in the queue, and the picture that is drawn on it meanwhile, if any."""

    canvas: Canvas
    count: int
    picture: Picture | None
    begins_play: bool


class Length:
    """The number of frames of a movie, which is limited."""

    def __init__(self, frames_max: int) -> None:
        self.frames = 0
        self._frames_max = frames_max
        self._error: BaseException | None = None

    def grow(self, count: int) -> None:
        """Count frames. Raises SceneError if the movie becomes too long."""
        if self._error:
            raise self._error
        if self.frames + count > self._frames_max:
            self.fail(too_long(self._frames_max))
        self.frames += count

    def fail(self, error: BaseException) -> NoReturn:
        """Raise an error now and on every later use of the movie: scenes may catch exceptions."""
        self._error = error
        raise error


class Unseen(Length):
    """A movie of which only the length is known."""

    def write(self, pixels: Pixels, repeat: int = 1) -> None:
        """Drop a frame: it has been counted."""

    def write_picture(self, picture: Picture, background: Pixels) -> None:
        """Drop a frame: it has been counted."""

    def begin_play(self) -> None:
        """Do nothing."""

    def end_play(self) -> None:
        """Do nothing."""

    def begin_section(self, section: Section) -> None:
        """Do nothing."""


class Movie(Length):
    """Sends the frames of a scene.

    `form`: that of all frames; odd sizes are an error of the scene if the encoder takes only even ones.
    """

    def __init__(self, job: RenderJob, form: Form, channel: JobChannel | None, sender: Sender) -> None:
        super().__init__(job.limits.frames)
        self._job = job
        self._form = form
        self._channel = channel
        self._sender = sender
        self._shape = (job.height_px, job.width_px, 4)
        self._begins_play = False
        self._chosen = Chosen(job.pictures, job.fps, job.part)
        self._frames_before_play = 0
        frame_bytes = job.height_px * job.width_px * 4
        self._queue: queue.Queue[_Queued | Mark | Section | None] = queue.Queue(
            max(2, min(8, _QUEUE_BYTES // frame_bytes))
        )
        self._is_emptied = False  # the None after the last frame has been taken
        self._canvases: list[Canvas] = []  # for reuse, the last one first: its memory is likely cached
        self._thread = threading.Thread(target=self._run, name="frames", daemon=True)
        self._thread.start()

    def write(self, pixels: Pixels, repeat: int = 1) -> None:
        """Append a copy of a frame `repeat` times: uint8, height by width by RGBA.

        Raises SceneError if the movie becomes too long, and any error in sending it.
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
        picture.begin(canvas.pixels, background, canvas.differs(background))
        canvas.background = background
        self._put(canvas, 1, picture)

    def begin_play(self) -> None:
        """Begin a play of the scene with the next frame."""
        self._begins_play = True

    def end_play(self) -> None:
        """End the play that has begun."""
        self._mark(self._chosen.end_play(self.frames - self._frames_before_play))
        self._frames_before_play = self.frames

    def _mark(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._queue.put(Mark(number))

    def begin_section(self, section: Section) -> None:
        """Begin a section of the scene with the next frame."""
        self._queue.put(section)

    def _canvas(self, pixels: Pixels, repeat: int) -> Canvas:
        """Return a canvas for a frame with pixels like these, if it may be appended to the movie."""
        if pixels.shape != self._shape or pixels.dtype != np.uint8:
            raise SceneError(
                f"The camera drew a frame of shape {pixels.shape} and type {pixels.dtype}; "
                f"expected {self._shape} and uint8."
            )
        if repeat < 1:
            raise SceneError(f"A frame can't be repeated {repeat} times.")
        self.grow(repeat)
        try:
            return self._canvases.pop()
        except IndexError:
            return Canvas(self._shape)

    def _put(self, canvas: Canvas, count: int, picture: Picture | None) -> None:
        self._queue.put(_Queued(canvas, count, picture, self._begins_play))
        self._begins_play = False
        self._mark(self._chosen.after(self.frames - count, self.frames))
        if self._channel:
            self._channel.progress(self.frames, self.frames / self._job.fps)

    def finish(self, segment: Any, cues: list[Cue], before: int = 0) -> None:
        """Send the last frames, the sound of a pydub segment if there is one, and the captions.

        `before`: the frames that the segment has before those of the movie. Raises SceneError if a
        chosen frame is not there, and any error in sending them.
        """
        self._mark(self._chosen.end(self.frames))
        self._queue.put(None)
        self._thread.join()
        if self._error:
            raise self._error
        if segment is not None:
            self._sender.sound(*sound.samples(segment, before, self.frames, self._job.fps))
        for cue in cues:
            self._sender.cue(cue)
        self._sender.end()

    def _run(self) -> None:
        try:
            self._send()
        except BaseException as error:
            self._error = error
            while not self._is_emptied:
                self._next()  # the scene may be waiting for space in the queue

    def _next(self) -> _Queued | Mark | Section | None:
        item = self._queue.get()
        self._is_emptied = item is None
        return item

    def _drawn(self, frame: _Queued) -> Canvas:
        """Return a frame when it has been drawn."""
        canvas = frame.canvas
        canvas.drawn = frame.picture.wait() if frame.picture else canvas.whole
        return canvas

    def _send(self) -> None:
        """Send all frames and sections in the queue."""
        self._sender.form(self._form)
        converter = Converter(self._form)
        shown = _Shown(None, None)
        while (item := self._next()) is not None:
            if isinstance(item, Section):
                self._sender.section(item)
                continue
            if isinstance(item, Mark):
                self._sender.mark(item.number)
                continue
            canvas = self._drawn(item)
            rows = converter.convert(canvas.pixels, shown.changed(canvas, item.picture))
            shown = _Shown(canvas.background, item.picture)
            self._sender.frame(converter.picture, rows, item.count, begins_play=item.begins_play)
            self._canvases.append(canvas)


class Still(Movie):
    """The last picture of a scene, whose plays are skipped."""

    def save(self, pixels: Pixels) -> None:
        """Send the picture."""
        super().write(pixels)

    def write(self, pixels: Pixels, repeat: int = 1) -> None:
        """Drop a frame."""

    def write_picture(self, picture: Picture, background: Pixels) -> None:
        """Drop a frame."""


def create(job: RenderJob, channel: JobChannel | None, sender: Sender) -> Movie:
    """Begin the movie of a job. Raises SceneError if its format doesn't allow its size."""
    name, transparent = (job.local.format, job.local.transparent) if job.local else ("mp4", False)
    has_colours = transparent or job.has_colours
    is_subsampled = name in ("mp4", "webm") or (name == "mov" and not transparent)
    if is_subsampled and (job.width_px % 2 or job.height_px % 2):
        raise SceneError(f"The video is {job.width_px} by {job.height_px} pixels: both must be even.")
    pixels = best_for("yuv420p" if is_subsampled and not has_colours else "rgba")
    form = Form(job.width_px, job.height_px, job.fps, pixels)
    return (Still if name == "png" else Movie)(job, form, channel, sender)


def create_pictures(job: RenderJob, channel: JobChannel | None, sender: Sender) -> Movie:
    """Begin a movie of pictures that are shown singly."""
    return Movie(job, Form(job.width_px, job.height_px, job.fps, best_for("rgba")), channel, sender)


def create_still(job: RenderJob, channel: JobChannel | None, sender: Sender) -> Still:
    """Begin a movie of one picture."""
    return Still(job, Form(job.width_px, job.height_px, job.fps, best_for("rgba")), channel, sender)
