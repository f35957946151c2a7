"""Manim's renderer and file writer, changed to send all frames to one movie."""

from collections.abc import Iterable
from typing import Any, ClassVar, Protocol

from manim import Mobject, Scene, config
from manim.renderer.cairo_renderer import CairoRenderer
from manim.scene.scene_file_writer import SceneFileWriter
from manim.typing import PixelArray, RGBAPixelArray

from ..authors import cues, slides
from ..messages import CheckJob, RenderJob
from ..scene_error import SceneError
from ..video.frames import Cue, Section
from ..video.movie import Movie, Picture, Still, Unseen
from .timeline import Timeline
from .work_times import stopwatch

# Limit for waits with a stop condition, which usually have a generous maximum duration. Manim allocates
# eight bytes for each of their time steps.
_STEPS_MAX = 10_000_000
# An attribute of cameras whose pixels the scene has read (`faster/drawing_threads.py`).
HAS_READ_PIXELS = "_has_read_pixels"


class MovieWriter(SceneFileWriter):
    """Replaces a scene's file writer: all output goes to `movie` and to no other file."""

    def __init__(self, plain: SceneFileWriter, movie: Movie | Unseen) -> None:
        self.movie = movie
        self._section_frames: dict[str, int] = {}
        super().__init__(plain.settings)
        vars(self).update(vars(plain))  # sections, sounds and captions of the scene's __init__
        self._section_frames = {section.name: 0 for section in self.sections}
        self.placed: list[Cue] = []  # captions of sounds that the request has placed
        self._open = False
        self._cuts: list[tuple[float, float]] = []
        self._section: object = None  # of the last frame
        self.before = 0  # frames before those of the movie

    def begin_part(self, movie: Movie) -> None:
        """Begin the movie: what was played until now is not in it."""
        self.before = self.movie.frames
        self.movie = movie

    def begin_animation(self, allow_write: bool = False, **kwargs: Any) -> None:
        """Start to accept frames, unless the animation is skipped."""
        self._open = allow_write
        self.movie.begin_play()

    def end_animation(self, allow_write: bool = False) -> None:
        """Stop accepting frames: those between animations aren't part of the movie."""
        self._open = False
        self.movie.end_play()

    def write_frame(self, pixels: RGBAPixelArray, *, repeat: int = 1) -> None:
        """Append a copy of a frame: uint8, height by width by RGBA."""
        if self._open:
            with stopwatch.during("encode"):
                self._follow_sections()
                self.movie.write(pixels, repeat)

    def write_picture(self, picture: Picture, background: PixelArray) -> None:
        """Append a frame that is drawn meanwhile."""
        if self._open:
            with stopwatch.during("encode"):
                self._follow_sections()
                self.movie.write_picture(picture, background)

    def _follow_sections(self) -> None:
        """Begin the section of the next frame, if videos of sections were asked for."""
        section = self.sections[-1]
        if section is not self._section and config.save_sections:
            self._section = section
            notes = slides.notes_of(section)
            self.movie.begin_section(Section(section.name, str(section.type_), section.video, notes))

    def next_section(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Begin a section, and note where."""
        self._section_frames.setdefault(name, self.movie.frames)
        super().next_section(name, *args, **kwargs)

    def moments(self, fps: float) -> dict[str, float]:
        """Return the named moments of the scene with their times in the video, in seconds.

        They are cues, sections and the texts of captions.
        """
        sections = {name: frames / fps for name, frames in self._section_frames.items()}
        captions = {caption.text: caption.start_s for caption in reversed(self.cues())}
        marked = {name: self.video_time(time) for name, time in cues.marked().items()}
        return captions | sections | cues.given() | marked

    def add_sound_in_video(self, file: str, start_s: float) -> None:
        """Add a sound at a time in the video, in seconds."""
        super().add_sound(file, start_s)

    def save_image(self, pixels: RGBAPixelArray) -> None:
        """Save the picture if it was asked for; otherwise a scene without animations becomes a video too."""
        if isinstance(self.movie, Still):
            self.movie.save(pixels)

    def finish(self) -> None:
        """Do nothing: the creator of the movie finishes it."""

    def abort_encode_jobs(self, reraise_encoder_failures: bool = False) -> None:
        """Do nothing: the creator of the movie ends it."""

    def cut(self, time: float, duration: float) -> None:
        """Record that the scene's clock advanced by `duration` seconds without frames."""
        self._cuts.append((time, duration))

    def video_time(self, time: float) -> float:
        """Convert a time of the scene's clock to a time in the video, both in seconds."""
        return time - sum(max(0.0, min(length, time - start)) for start, length in self._cuts)

    def add_sound(
        self, sound_file: Any, time: float | None = None, gain: float | None = None, **kwargs: Any
    ) -> None:
        """Add a sound at a time of the scene's clock, in seconds."""
        place = None if time is None else self.video_time(time)
        super().add_sound(sound_file, place, gain, **kwargs)

    def sound(self) -> Any:
        """Return the pydub segment of all plays; None if the scene added no sound."""
        return self.audio_segment if self.includes_sound else None

    def cues(self) -> list[Cue]:
        """Return the captions with their times in the video of all plays."""
        return [
            Cue(
                self.video_time(caption.start.total_seconds()),
                self.video_time(caption.end.total_seconds()),
                str(caption.content),
            )
            for caption in self.subcaptions
        ] + self.placed


class Recorder(Protocol):
    """Records frames that are drawn later (`faster/drawing_threads.py`)."""

    def record(
        self, renderer: CairoRenderer, scene: Scene, mobjects: Iterable[Mobject] | None
    ) -> tuple[Picture, PixelArray] | None:
        """Return a frame as a picture and its background; None if it has to be drawn at once."""


class CaptureRenderer(CairoRenderer):
    """Replaces the renderer that a scene has created, keeping its camera and clock.

    Passing a renderer to the constructor of a scene instead would override its choice of camera, and fail for
    scenes whose ``__init__`` has no parameters.
    """

    file_writer: MovieWriter
    recorder_type: ClassVar[type[Recorder] | None] = None

    def __init__(
        self,
        plain: CairoRenderer,
        movie: Movie | Unseen,
        job: RenderJob | CheckJob,
        timeline: Timeline,
    ) -> None:
        vars(self).update(vars(plain))
        self.file_writer = MovieWriter(plain.file_writer, movie)
        self._job = job
        self._timeline = timeline
        self._recorder = self.recorder_type() if self.recorder_type else None

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations, and record them or, if they are skipped, the time that they leave out."""
        start = self.time
        line = 0 if self._timeline.is_full else self._timeline.line()
        movie = self.file_writer.movie
        first_frame = movie.frames
        self._timeline.begin(scene)
        with stopwatch.during("update"):
            super().play(scene, *args, **kwargs)
        self._timeline.end()
        if self.skip_animations:
            self.file_writer.cut(start, self.time - start)
        else:
            fps = self._job.fps
            seconds = (movie.frames - first_frame) / fps
            self._timeline.add(line, scene.animations, first_frame / fps, seconds)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Draw one frame and append it to the movie, without Manim's copy: the movie copies it."""
        recorder = None if self.skip_animations else self._recorder
        with stopwatch.during("draw"):
            recorded = recorder.record(self, scene, moving_mobjects) if recorder else None
            if recorded is None:
                self.update_frame(scene, moving_mobjects)
        if recorded is None:
            self.add_frame(self.camera.pixel_array)
        else:
            self.time += 1 / self.camera.frame_rate
            self.file_writer.write_picture(*recorded)

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> PixelArray | None:
        """Draw static objects. Manim calls this first when the length of an animation is known."""
        self._refuse_too_long(scene)
        with stopwatch.during("draw"):
            return super().save_static_frame_data(scene, static_mobjects)

    def _refuse_too_long(self, scene: Scene) -> None:
        """Raise SceneError before Manim allocates more time steps than can be drawn."""
        if self.skip_animations:
            return
        limit = self._job.limits.frames
        steps = scene.duration * self._job.fps
        if not steps <= (
            limit - self.file_writer.movie.frames if scene.stop_condition is None else _STEPS_MAX
        ):
            error = SceneError(
                f"An animation of {scene.duration:g} s at {self._job.fps} frames per second would make the "
                f"video longer than the limit of {limit} frames.",
                "limit:frames",
            )
            self.file_writer.movie.fail(error)
