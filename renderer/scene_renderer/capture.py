"""Manim's renderer and file writer, with their frames led to one encoder for the whole movie."""

from collections.abc import Iterable
from typing import Any

from manim import Mobject, Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.scene.scene_file_writer import SceneFileWriter
from manim.typing import PixelArray, RGBAPixelArray

from .captions import Cue
from .encode import MovieEncoder
from .errors import SceneError
from .protocol import RenderJob

# Waits that a condition ends are usually given a generous maximum. Manim makes an array of all
# their time steps: eight bytes each.
_STEPS_MAX = 10_000_000


class MovieWriter(SceneFileWriter):
    """Takes over a scene's file writer: what it writes goes to `movie` and to no other file."""

    def __init__(self, plain: SceneFileWriter, movie: MovieEncoder) -> None:
        super().__init__(plain.settings)
        vars(self).update(vars(plain))  # sections, sounds and captions of the scene's __init__
        self.movie = movie
        self._open = False
        self._cuts: list[tuple[float, float]] = []

    def begin_animation(self, allow_write: bool = False, **kwargs: Any) -> None:
        """Take frames from now on, unless the animation is skipped."""
        self._open = allow_write

    def end_animation(self, allow_write: bool = False) -> None:
        """Take no more frames: those between animations belong to no movie."""
        self._open = False

    def write_frame(self, pixels: RGBAPixelArray, *, repeat: int = 1) -> None:
        """Encode a copy of a frame: uint8, height by width by RGBA."""
        if self._open:
            self.movie.write(pixels, repeat)

    def save_image(self, pixels: RGBAPixelArray) -> None:
        """Do nothing: a picture without animation becomes a video too."""

    def finish(self) -> None:
        """Do nothing: the movie is finished by whoever made it."""

    def abort_encode_jobs(self, reraise_encoder_failures: bool = False) -> None:
        """Do nothing: the movie is ended by whoever made it."""

    def cut(self, time: float, duration: float) -> None:
        """Note that the scene's clock ran for `duration` seconds without a frame."""
        self._cuts.append((time, duration))

    def video_time(self, time: float) -> float:
        """Return where in the video a moment of the scene is; both in seconds."""
        return time - sum(max(0.0, min(length, time - start)) for start, length in self._cuts)

    def add_sound(
        self, sound_file: Any, time: float | None = None, gain: float | None = None, **kwargs: Any
    ) -> None:
        """Add a sound at a moment of the scene's clock, in seconds."""
        place = None if time is None else self.video_time(time)
        super().add_sound(sound_file, place, gain, **kwargs)

    def sound(self) -> Any:
        """Return the movie's pydub segment; None when the scene added no sound."""
        return self.audio_segment if self.includes_sound else None

    def cues(self) -> list[Cue]:
        """Return the captions at their places in the video."""
        return [
            Cue(
                self.video_time(caption.start.total_seconds()),
                self.video_time(caption.end.total_seconds()),
                str(caption.content),
            )
            for caption in self.subcaptions
        ]


class CaptureRenderer(CairoRenderer):
    """Takes over the renderer that a scene has made for itself, with its camera and clock.

    Scenes choose their camera, and some have an ``__init__`` without parameters: handing them a
    renderer when they are made would break both.
    """

    file_writer: MovieWriter

    def __init__(self, plain: CairoRenderer, movie: MovieEncoder, job: RenderJob) -> None:
        vars(self).update(vars(plain))
        self.file_writer = MovieWriter(plain.file_writer, movie)
        self._job = job

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations, and note when they are skipped."""
        start = self.time
        super().play(scene, *args, **kwargs)
        if self.skip_animations:
            self.file_writer.cut(start, self.time - start)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Draw and encode one frame, without the copy that Manim makes: the encoder makes one."""
        self.update_frame(scene, moving_mobjects)
        self.add_frame(self.camera.pixel_array)

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> PixelArray | None:
        """Draw what doesn't move. Manim's first act once the length of an animation is known."""
        self._refuse_too_long(scene)
        return super().save_static_frame_data(scene, static_mobjects)

    def _refuse_too_long(self, scene: Scene) -> None:
        """Raise SceneError before Manim makes an array of more time steps than can be drawn."""
        if self.skip_animations:
            return
        limit = self._job.limits.frames
        steps = scene.duration * self._job.fps
        if not steps <= (
            limit - self.file_writer.movie.frames if scene.stop_condition is None else _STEPS_MAX
        ):
            error = SceneError(
                f"An animation of {scene.duration:g} s at {self._job.fps} frames per second would make the "
                f"video longer than the limit of {limit} frames."
            )
            self.file_writer.movie.fail(error)
