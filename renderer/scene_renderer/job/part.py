"""Some plays of a scene, drawn as a render of the whole scene draws them.

Plays before them go through their frames as in a dry run, and the scene ends at the play after them.
"""

from functools import partial
from typing import Any

from manim import Scene
from manim.renderer.cairo_renderer import CairoRenderer
from manim.utils.exceptions import EndSceneEarlyException

from ..messages import PlayRange, RenderJob
from ..scene_error import SceneError
from ..video.frames import Cue
from ..video.movie import Movie
from .capture import CaptureRenderer
from .dry_run import DryRenderer
from .timeline import Timeline


class PartRenderer(CaptureRenderer):
    """Draws plays up to the last one of the part."""

    def __init__(
        self, plain: CairoRenderer, movie: Movie, job: RenderJob, timeline: Timeline, last: int | None
    ) -> None:
        super().__init__(plain, movie, job, timeline)
        self._last = last

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations, or end the scene: until the next play, it may still caption the last one."""
        if self._last is not None and self.num_plays > self._last:
            raise EndSceneEarlyException
        super().play(scene, *args, **kwargs)


class LeadRenderer(DryRenderer):
    """Goes through the plays before a part without drawing them, then has another renderer draw the part."""

    def __init__(
        self, plain: CairoRenderer, movie: Movie, job: RenderJob, timeline: Timeline, part: PlayRange
    ) -> None:
        super().__init__(plain, job, timeline)
        self._make = partial(PartRenderer, movie=movie, job=job, timeline=timeline, last=part.last)
        self._movie = movie
        self._part = part
        self._of_part: PartRenderer | None = None

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Play animations without drawing them, or begin the part."""
        if self.num_plays < self._part.first:
            super().play(scene, *args, **kwargs)
            return
        if self._of_part is None:
            self._of_part = self._begin()
        scene.renderer = self._of_part
        self._of_part.play(scene, *args, **kwargs)

    def _begin(self) -> PartRenderer:
        if self.are_pixels_read:
            raise SceneError(
                f"The scene reads the pixels of its camera before play {self._part.first}, which can't be "
                "drawn without those before it.",
                kind="scene:unsupported",
                hint="Render the scene from its first play.",
            )
        self._timeline.drop()
        self.file_writer.begin_part(self._movie)
        renderer = self._make(self)
        renderer.file_writer = self.file_writer
        return renderer

    def ended(self) -> PartRenderer:
        """Return the renderer of the part, after the scene has ended. Raises SceneError if a play lacks."""
        first, last = self._part.first, self._part.last
        plays = (self._of_part or self).num_plays
        wanted = first if last is None else last
        if self._of_part is None or wanted >= plays:
            message = f"The scene has no play {wanted}: it has {plays}, counted from 0."
            raise SceneError(message, kind="scene:value")
        return self._of_part


def cut(cues: list[Cue], start_s: float, seconds: float) -> list[Cue]:
    """Return the captions that are seen in a part, which has so many seconds, with their times in it."""
    shifted = [
        Cue(max(0.0, cue.start_s - start_s), min(seconds, cue.end_s - start_s), cue.text) for cue in cues
    ]
    return [cue for cue in shifted if cue.start_s < cue.end_s]
