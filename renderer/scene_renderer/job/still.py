"""One frame of a scene, drawn as a render draws it, without drawing what lies before.

Plays before it go through their frames as in a dry run.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from manim import Mobject, Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.typing import PixelArray, RGBAPixelArray
from manim.utils.exceptions import EndSceneEarlyException

from ..messages import RenderJob, StillPlace
from ..scene_error import SceneError
from ..video.movie import Pixels
from .capture import CaptureRenderer
from .dry_run import DryRenderer
from .timeline import Timeline

_EACH = -1
_READS_PIXELS = "The scene reads the pixels of its camera, so no frame can be drawn without those before it."


class StillRenderer(DryRenderer):
    """Draws one frame of a scene."""

    def __init__(self, plain: CairoRenderer, job: RenderJob, timeline: Timeline, place: StillPlace) -> None:
        super().__init__(plain, job, timeline)
        self._place = place
        self._wanted: int | None = None  # the frame of the current play to draw; _EACH: not known in advance
        self._drawn: Pixels | None = None
        self._plays = 0
        self._is_own_read = False

    def picture(self, scene: Scene) -> Pixels:
        """Return the frame, after the scene has ended. Raises SceneError if there is no such frame."""
        if self.are_pixels_read:
            raise SceneError(_READS_PIXELS, kind="scene:unsupported", hint="Render the video instead.")
        if self._drawn is not None:
            return self._drawn
        frames = self.file_writer.movie.frames
        at = self._place.at
        if frames == 0 and at != "play" and self._place.value < 1:
            # As a render shows a scene that plays nothing, for one second.
            self._wanted = _EACH
            self.static_image = None
            self.update_frame(scene)
            return self._pixels()
        if at == "play":
            message = f"The scene has no play {self._place.value:g}: it has {self._plays}, counted from 0."
        else:
            message = (
                f"The video has no frame at {self._place.value:g} s: it is {frames / self._job.fps:g} s long."
            )
        raise SceneError(message, kind="scene:value")

    def moments(self) -> set[int]:
        """Return the frames of the current play that are computed, besides those of a dry run."""
        return set() if self._wanted in (None, _EACH) else {self._wanted}

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> PixelArray | None:
        """Draw static mobjects if the frame may be in this play."""
        self._refuse_too_long(scene)
        self._wanted = self._frame_in(scene)
        self._plays += 1
        self.static_image = None
        if self._wanted is None:
            return None
        self._is_own_read = True
        try:
            return CaptureRenderer.save_static_frame_data(self, scene, static_mobjects)
        finally:
            self._is_own_read = False

    def get_frame(self) -> RGBAPixelArray:
        """Return a copy of the pixels: later frames are drawn on the same."""
        self._is_frame_read = self._is_frame_read or not self._is_own_read
        return self._pixels().copy()

    def _pixels(self) -> Pixels:
        """Return the pixels, without the note that the scene has read them."""
        pixels: Pixels = vars(self.camera)["pixel_array"]
        return pixels

    def update_frame(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Draw a frame if it is in this play."""
        if self._wanted is not None:
            CairoRenderer.update_frame(self, scene, *args, **kwargs)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Draw the frame if it is the one at this time in the play."""
        super().render(scene, time, moving_mobjects)
        index = round(time * self._job.fps)
        if self._wanted not in (_EACH, index) or self.skip_animations:
            return
        if self._place.at == "seconds" and self._begun_at + index != self._target():
            return
        self.update_frame(scene, moving_mobjects)
        self._keep()

    def freeze_current_frame(self, duration: float) -> None:
        """Keep the frame of a wait in which nothing changes, which has been drawn."""
        super().freeze_current_frame(duration)
        if self._wanted is not None and not self.skip_animations:
            self._keep()

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations up to the frame."""
        if self._drawn is not None and self._place.at != "last":
            raise EndSceneEarlyException  # the scene has caught the first one
        super().play(scene, *args, **kwargs)
        if self._drawn is not None and self._place.at == "play":
            raise EndSceneEarlyException

    def _target(self) -> int:
        return int(self._place.value * self._job.fps + 1e-9)

    def _frame_in(self, scene: Scene) -> int | None:
        """Return which frame of the play that begins is to be drawn; None: it has none of them."""
        if self.skip_animations:
            return None
        if self._place.at == "play" and self._plays != self._place.value:
            return None
        if scene.stop_condition is not None:
            return _EACH
        rate = self.camera.frame_rate
        is_frozen = scene.is_current_animation_frozen_frame()
        frames = (
            int(scene.duration / (1 / rate)) if is_frozen else len(np.arange(0, scene.duration, 1 / rate))
        )
        wanted = frames - 1
        if self._place.at == "seconds":
            wanted = self._target() - self.file_writer.movie.frames
        return wanted if 0 <= wanted < frames else None

    def _keep(self) -> None:
        self._drawn = self._pixels().copy()
        if self._place.at == "seconds":
            raise EndSceneEarlyException
