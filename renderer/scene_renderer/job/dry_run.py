"""A dry run of a scene: what a render of it does, without pictures.

Its plays go through their first, middle and last frames; those whose end may depend on other frames, through
all of them (`stepping.py`). So mobjects, clock and random numbers are those of the render at the end of each.
"""

import resource
import signal
from collections.abc import Iterable
from types import FrameType
from typing import Any

import numpy as np
from manim import Mobject, Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.typing import PixelArray, RGBAPixelArray

from ..messages import CheckJob, RenderJob
from ..replacing import replace
from ..scene_error import SceneError
from ..video.movie import Unseen
from .capture import HAS_READ_PIXELS, CaptureRenderer
from .stepping import depends_on_its_frames
from .timeline import Timeline

_whole_progression = Scene.get_time_progression
# CPU time after the error until the kernel kills the process, in case the scene catches the error.
_GRACE_S = 1


class Moments(list[float]):
    """The times in a play whose frames are computed, in seconds."""

    def close(self) -> None:
        """Do nothing: there is no progress bar."""


class DryRenderer(CaptureRenderer):
    """Replaces the renderer of a scene and draws nothing."""

    def __init__(self, plain: CairoRenderer, job: RenderJob | CheckJob, timeline: Timeline) -> None:
        super().__init__(plain, Unseen(job.limits.frames), job, timeline)
        self._recorder = None
        self._begun_at = 0  # the number of frames when the play began
        self._is_frame_read = False
        # A render does this for its first frame, and scenes may use the context.
        if hasattr(self.camera, "get_cairo_context"):
            self.camera.get_cairo_context(vars(self.camera)["pixel_array"])

    @property
    def are_pixels_read(self) -> bool:
        """Whether the scene has read the pixels of its camera."""
        return self._is_frame_read or bool(vars(self.camera).get(HAS_READ_PIXELS))

    def moments(self) -> set[int]:
        """Return the frames of the current play that are computed besides the first, middle and last."""
        return set()

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations without drawing them."""
        self._begun_at = self.file_writer.movie.frames
        super().play(scene, *args, **kwargs)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Count the frames up to a time in the play."""
        movie = self.file_writer.movie
        frames = self._begun_at + round(time * self._job.fps) + 1 - movie.frames
        if self.skip_animations or frames <= 0:
            return
        for _ in range(frames):  # as a render does, which the last bit of the scene's clock depends on
            self.time += 1 / self.camera.frame_rate
        movie.grow(frames)

    def add_frame(self, frame: PixelArray, num_frames: int = 1) -> None:
        """Count frames that are equal."""
        self._count_equal(num_frames)

    def _count_equal(self, frames: int) -> None:
        if not self.skip_animations:
            self.time += frames * (1 / self.camera.frame_rate)
            self.file_writer.movie.grow(frames)

    def freeze_current_frame(self, duration: float) -> None:
        """Count the frames of a wait in which nothing changes."""
        self._count_equal(int(duration / (1 / self.camera.frame_rate)))

    def update_frame(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Draw nothing."""

    def get_frame(self) -> RGBAPixelArray:
        """Return the pixels of the camera, which show nothing."""
        self._is_frame_read = True
        return self.camera.pixel_array

    def scene_finished(self, scene: Scene) -> None:
        """Make no picture of a scene that plays nothing."""

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> PixelArray | None:
        """Draw nothing, but refuse a play that is too long."""
        self._refuse_too_long(scene)
        self.static_image = None
        return None


def skip_frames() -> None:
    """Let plays go through a few of their frames where the others change nothing."""

    def get_time_progression(self: Scene, run_time: float, *args: Any, **kwargs: Any) -> Any:
        renderer = self.renderer
        if not isinstance(renderer, DryRenderer):
            return _whole_progression(self, run_time, *args, **kwargs)
        if depends_on_its_frames(self) or renderer.skip_animations:
            return _whole_progression(self, run_time, *args, **kwargs)
        times = np.arange(0, run_time, 1 / renderer.camera.frame_rate)
        last = len(times) - 1
        computed = {0, last // 2, last, *renderer.moments()}
        return Moments(times[index] for index in sorted(computed) if 0 <= index <= last)

    replace(Scene, get_time_progression=get_time_progression)


def limit_time(seconds: int) -> None:
    """Raise an error in the scene's code when it has used so much CPU time."""

    def end(*_: int | FrameType | None) -> None:
        hint = (
            "Look for an endless loop at this line. If there is none, render the scene: it may take longer."
        )
        raise TooLongError(f"The check ended after {seconds} seconds of CPU time.", "limit:time", hint=hint)

    signal.signal(signal.SIGXCPU, end)
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = round(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + _GRACE_S))


class TooLongError(SceneError):
    """The scene has used more CPU time than it may."""
