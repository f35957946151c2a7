"""An inspection of a scene: a dry run with pictures, and findings on what they show.

The frames that are drawn are those of a render of the same size. Between plays, the watch looks at the
mobjects as they are then: that is what rests on the screen.
"""

from collections.abc import Iterable
from typing import Any, Protocol

from manim import Mobject, Scene, Wait
from manim.renderer.cairo_renderer import CairoRenderer
from manim.typing import PixelArray, RGBAPixelArray
from manim.utils.iterables import list_update

from ..layout.watch import LayoutWatch
from ..messages import CheckJob, Finding, RenderJob
from ..replacing import replace
from ..scene_error import SceneError
from ..video.movie import Pixels
from .capture import CaptureRenderer
from .dry_run import DryRenderer
from .timeline import Timeline

_PICTURES_MAX = 120
# Of how many plays one is drawn, from so many pictures on.
_STRIDES = ((110, 512), (100, 64), (90, 8), (70, 2), (0, 1))
_FEW = 50  # with more pictures, one is drawn of each play
_LOOKS_MAX, _LOOKS_STRIDE = 300, 16
_SHORT_S, _NOTICED_S, _LONG_S, _VERY_LONG_S = 0.45, 0.9, 2.5, 5.0


class Keep(Protocol):
    """Takes a picture: uint8, height by width by RGBA; it changes no more."""

    def __call__(self, pixels: Pixels, *, play: int, line: int, seconds: float) -> None:
        """`play`: counted from 0; `line`: that plays it, 0: not known; `seconds`: in the video."""


class InspectingRenderer(DryRenderer):
    """Draws some frames of each play and has them and the mobjects watched.

    To be made before the scene's `construct` runs, in a process of its own, as it replaces parts of Manim;
    `dry_run.skip_frames` is needed, too. `plain`: the renderer that the scene has made; `job`: its size is
    that of the pictures; `keep`: takes pictures in their order, at most 120; `code`: the text of the scene's
    file; `height_px`: the height of the video that is asked for, which decides whether texts are too small.
    When the scene has ended, `findings` returns what was found.
    """

    def __init__(
        self,
        plain: CairoRenderer,
        job: RenderJob | CheckJob,
        timeline: Timeline,
        *,
        keep: Keep,
        code: str,
        height_px: int,
    ) -> None:
        super().__init__(plain, job, timeline)
        self._keep = keep
        self._watch: LayoutWatch | None = LayoutWatch(code, timeline.path, height_px)
        self.failure: Exception | None = None  # of the watch, which then ends; the pictures go on
        self._asked_s: float | None = None
        self._is_own_read = False
        self._wanted: set[int] = set()
        self._plays = -1
        self._line = 0
        self._kept = self._looks = 0
        self._last: Pixels | None = None
        self._roots: list[int] = []
        self._is_rest_due = False
        self._watch.origins.begin()
        self._measure_waits()

    def findings(self) -> list[Finding]:
        """Return what was found, after the scene has ended."""
        if self._watch is None:
            return []
        try:
            return self._watch.findings()
        except SceneError:
            raise
        except Exception as error:
            self.failure = error
            return []

    def _measure_waits(self) -> None:
        """Note how long the author wants plays to be: Manim makes short ones longer."""
        validate = Scene.validate_run_time.__func__  # type: ignore[attr-defined] # of the class method
        renderer = self

        def validated(kind: type[Scene], run_time: float, *args: Any, **kwargs: Any) -> float:
            if renderer._asked_s is None:
                renderer._asked_s = run_time
            result: float = validate(kind, run_time, *args, **kwargs)
            return result

        replace(Scene, validate_run_time=classmethod(validated))

    def moments(self) -> set[int]:
        """Return the frames of the current play that are drawn."""
        return self._wanted

    def play(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Look at what rests on the screen, and play animations."""
        is_wait = len(args) == 1 and isinstance(args[0], Wait)
        asked, self._asked_s = self._asked_s if is_wait else None, None
        is_skipped = self._is_skipping()
        if not is_wait and not is_skipped:
            self._look(scene, self._rest_picture(scene), self._now(), at_rest=True)
        elif is_wait:
            self._is_rest_due = not is_skipped
        self._plays += 1
        self._line = self._timeline.line()
        self._asked_s = asked
        self._wanted = set()
        super().play(scene, *args, **kwargs)
        if not self.skip_animations and self._watch is not None:
            with self._watching():
                self._watch.end_play(scene.animations or [], play=self._plays, line=self._line)
        self._roots = _roots(scene)
        self._asked_s = None

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> PixelArray | None:
        """Draw static mobjects if a frame of this play is drawn."""
        self._refuse_too_long(scene)
        self.static_image = None
        if self.skip_animations:
            return None
        self._begin_play(scene)
        self._wanted = self._frames_to_draw(scene)
        if not self._wanted:
            return None
        self._is_own_read = True
        try:
            return CaptureRenderer.save_static_frame_data(self, scene, static_mobjects)
        finally:
            self._is_own_read = False

    def update_frame(self, scene: Scene, *args: Any, **kwargs: Any) -> None:
        """Draw a frame if one of this play is drawn."""
        if self._wanted:
            CairoRenderer.update_frame(self, scene, *args, **kwargs)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        """Draw a frame if it is one of those that are wanted."""
        super().render(scene, time, moving_mobjects)
        index = round(time * self._job.fps)
        if self.skip_animations or index not in self._wanted:
            return
        self.update_frame(scene, moving_mobjects)
        last = max(self._wanted)
        self._take(
            scene,
            index,
            lasts=1 / self._job.fps,
            is_last=index == last,
            is_first=index == 0 < last and scene.stop_condition is None,
        )

    def freeze_current_frame(self, duration: float) -> None:
        """Keep the frame of a wait in which nothing changes, which has been drawn."""
        super().freeze_current_frame(duration)
        if self._wanted and not self.skip_animations:
            frames = self.file_writer.movie.frames - self._begun_at
            self._take(self._scene, 0, lasts=frames / self._job.fps, is_last=True, is_first=False)

    def get_frame(self) -> RGBAPixelArray:
        """Return a copy of the pixels: later frames are drawn on the same."""
        self._is_frame_read = self._is_frame_read or not self._is_own_read
        return self._pixels().copy()

    def scene_finished(self, scene: Scene) -> None:
        """Take the last picture."""
        if self._plays < 0:
            self._line = 0
            self._plays = 0
            pixels = self._drawn_now(scene)
            self._hand_out(pixels, 0.0)
            self._show(pixels, 0.0, lasts=1.0)
            self._look(scene, pixels, 0.0, at_rest=True)
            return
        if self._is_skipping():
            return
        last = self._rest_picture(scene)
        if not self._wanted and not self.skip_animations:
            # Of the many plays, the last one wasn't drawn.
            last = self._drawn_now(scene)
            self._hand_out(last, (self.file_writer.movie.frames - 1) / self._job.fps)
        self._look(scene, last, self._now(), at_rest=True)

    def _pixels(self) -> Pixels:
        """Return the pixels, without the note that the scene has read them."""
        pixels: Pixels = vars(self.camera)["pixel_array"]
        return pixels

    def _is_skipping(self) -> bool:
        return bool(self._original_skipping_status or self.file_writer.sections[-1].skip_animations)

    def _begin_play(self, scene: Scene) -> None:
        self._scene = scene  # for what is drawn without being told the scene
        asked = self._asked_s
        animations = scene.animations or []
        if asked is None or not isinstance(animations[0], Wait):
            asked = max(animation.run_time for animation in animations)
        if self._watch is not None:
            with self._watching():
                self._watch.begin_play(
                    play=self._plays, line=self._line, seconds=self._seconds(0), asked_s=asked
                )

    def _frames_to_draw(self, scene: Scene) -> set[int]:
        """Return the frames of the play that begins that are drawn."""
        stride = next(stride for least, stride in _STRIDES if self._kept >= least)
        if self._plays % stride or self._kept >= _PICTURES_MAX - 1:
            return set()
        if scene.is_current_animation_frozen_frame():
            return {0}
        if scene.stop_condition is not None:
            return {part * self._job.fps for part in (0, 2, 6)}
        last = max(0, round(scene.duration * self._job.fps) - 1)
        if self._kept > _FEW or scene.duration < _SHORT_S:
            return {last}
        if scene.duration > _VERY_LONG_S:
            return {0, last // 4, last // 2, last * 3 // 4, last}
        if scene.duration > _LONG_S:
            return {0, last // 3, last * 2 // 3, last}
        is_empty = self._watch is not None and self._watch.is_empty and scene.duration > _NOTICED_S
        return {last // 2, last, *([0] if is_empty else [])}

    def _take(self, scene: Scene, index: int, *, lasts: float, is_last: bool, is_first: bool) -> None:
        """Hand out the frame that was drawn, and look at it."""
        pixels = self._pixels().copy()
        seconds = self._seconds(index)
        if self._is_rest_due:
            self._is_rest_due = False
            self._look(scene, pixels, seconds, at_rest=True)
        elif not is_last:
            self._look(scene, pixels, seconds, at_rest=False)
        self._show(pixels, seconds, lasts)
        if is_last:
            self._last = pixels
        if not is_first:
            self._hand_out(pixels, seconds)

    def _hand_out(self, pixels: Pixels, seconds: float) -> None:
        self._kept += 1
        self._keep(pixels, play=self._plays, line=self._line, seconds=seconds)

    def _show(self, pixels: Pixels, seconds: float, lasts: float) -> None:
        if self._watch is not None:
            with self._watching():
                self._watch.show(
                    pixels,
                    play=self._plays,
                    line=self._line,
                    seconds=seconds,
                    lasts=lasts,
                    has_sound=bool(self.file_writer.includes_sound),
                )

    def _look(self, scene: Scene, pixels: Pixels | None, seconds: float, *, at_rest: bool) -> None:
        if self._watch is not None and self._looks_on(at_rest):
            with self._watching():
                self._watch.see(
                    scene,
                    pixels,
                    play=max(0, self._plays),
                    line=self._line,
                    seconds=seconds,
                    at_rest=at_rest,
                )

    def _looks_on(self, at_rest: bool) -> bool:
        """Whether to look now: seldom in scenes with very many plays."""
        self._looks += at_rest
        return self._looks <= _LOOKS_MAX or (at_rest and self._looks % _LOOKS_STRIDE == 0)

    def _rest_picture(self, scene: Scene) -> Pixels | None:
        """Return a picture of what rests on the screen: the last that was drawn, if it is still of that."""
        last, self._last = self._last, None
        if last is not None and self._roots == _roots(scene):
            return last
        if self._kept > _FEW:
            return None
        try:
            return self._drawn_now(scene)
        except SceneError:
            raise
        except Exception:  # a render doesn't draw this
            return None

    def _drawn_now(self, scene: Scene) -> Pixels:
        self.static_image = None
        CairoRenderer.update_frame(self, scene)
        return self._pixels().copy()

    def _now(self) -> float:
        return self.file_writer.movie.frames / self._job.fps

    def _seconds(self, index: int) -> float:
        return (self._begun_at + index) / self._job.fps

    def _watching(self) -> "_Watching":
        return _Watching(self)

    def end_watch(self, error: Exception) -> None:
        """Watch no longer, because of an error."""
        self.failure, self._watch = error, None


class _Watching:
    """Ends the watch if it fails: the pictures are worth having without it."""

    def __init__(self, renderer: InspectingRenderer) -> None:
        self._renderer = renderer

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, SceneError):
            return False
        self._renderer.end_watch(error)
        return True


def _roots(scene: Scene) -> list[int]:
    return [id(root) for root in list_update(scene.mobjects, scene.foreground_mobjects)]
