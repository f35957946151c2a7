"""Scenes in slides: the interface of the plugin manim-slides. Each slide is a section of the video."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from manim import LEFT, Animation, AnimationGroup, FadeIn, FadeOut, Mobject, Scene, ThreeDScene, config
from manim.typing import Vector3DLike

# Of sections, for presentations.
_notes: "WeakKeyDictionary[object, str]" = WeakKeyDictionary()
# The types of sections that programs for presentations know.
_SECTION_TYPES = {
    (False, False): "presentation.normal",
    (True, False): "presentation.loop",
    (False, True): "presentation.skip",
    (True, True): "presentation.complete_loop",
}


@dataclass(frozen=True)
class SlideFlags:
    """How a slide is presented."""

    loop: bool = False
    auto_next: bool = False
    playback_rate: float = 1.0
    reversed_playback_rate: float = 1.0
    notes: str = ""
    # What the interface has besides, such as `direction` or `src`.
    others: tuple[tuple[str, Any], ...] = ()

    @property
    def section_type(self) -> str:
        """The type of the section."""
        return _SECTION_TYPES[self.loop, self.auto_next]


class Slide(Scene):
    """A scene in slides. `slides`: the flags of those that have begun."""

    max_duration_before_split_reverse: float | None = 4.0
    num_processes: int | None = None
    skip_reversing = False
    wait_time_between_slides = 0.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.slides: list[SlideFlags] = [SlideFlags()]
        self._canvas: dict[str, Mobject] = {}

    def next_slide(
        self,
        *args: Any,
        loop: bool = False,
        auto_next: bool = False,
        playback_rate: float = 1.0,
        reversed_playback_rate: float = 1.0,
        notes: str = "",
        dedent_notes: bool = True,
        skip_animations: bool = False,
        **others: Any,
    ) -> None:
        """End a slide, and begin the next one with these flags."""
        if self.wait_time_between_slides > 0:
            self.wait(self.wait_time_between_slides)
        said = _dedented(notes) if dedent_notes else notes
        flags = SlideFlags(loop, auto_next, playback_rate, reversed_playback_rate, said, (*others.items(),))
        self.slides.append(flags)
        name = str(args[0]) if args else f"slide {len(self.slides)}"
        self.next_section(name, flags.section_type, skip_animations)
        _notes[self.renderer.file_writer.sections[-1]] = said

    def pause(self, duration: float | None = None) -> None:
        """Wait, as Manim does; without a duration end a slide: an earlier name of `next_slide`."""
        if duration is None:
            self.next_slide()
        else:
            self.wait(duration)

    def start_loop(self) -> None:
        """Begin a slide that is repeated: an earlier form of ``next_slide(loop=True)``."""
        self.next_slide(loop=True)

    def end_loop(self) -> None:
        """End a slide that is repeated: an earlier form of ``next_slide()``."""
        self.next_slide()

    @property
    def canvas(self) -> Mapping[str, Mobject]:
        """What stays from slide to slide, by names."""
        return self._canvas

    def add_to_canvas(self, **objects: Mobject) -> None:
        """Add mobjects to the canvas; they are not added to the scene."""
        self._canvas.update(objects)

    def remove_from_canvas(self, *names: str) -> None:
        """Remove mobjects from the canvas. Raises KeyError for an unknown name."""
        for name in names:
            del self._canvas[name]

    @property
    def canvas_mobjects(self) -> Iterator[Mobject]:
        """The mobjects of the canvas."""
        return iter(self._canvas.values())

    @property
    def mobjects_without_canvas(self) -> list[Mobject]:
        """The mobjects of the scene that are not of the canvas."""
        kept = {id(mobject) for mobject in self._canvas.values()}
        return [mobject for mobject in self.mobjects if id(mobject) not in kept]

    def wipe(
        self,
        current: Mobject | Sequence[Mobject] = (),
        future: Mobject | Sequence[Mobject] = (),
        direction: Vector3DLike = LEFT,
        return_animation: bool = False,
        **kwargs: Any,
    ) -> Animation | None:
        """Move current mobjects out of the frame, and future ones into it from the other side."""
        size = np.array([config.frame_width, config.frame_height, 0.0])
        shift = np.asarray(direction, dtype=float) * size
        animations: list[Animation] = [FadeOut(mobject, shift=shift) for mobject in _listed(current)]
        animations += [FadeIn(mobject, shift=shift) for mobject in _listed(future)]
        return self._show(animations, kwargs, is_returned=return_animation)

    def zoom(
        self,
        current: Mobject | Sequence[Mobject] = (),
        future: Mobject | Sequence[Mobject] = (),
        scale: float = 4.0,
        out: bool = False,
        return_animation: bool = False,
        **kwargs: Any,
    ) -> Animation | None:
        """Replace current mobjects by future ones, in or out of the depth of the picture."""
        before, after = (1 / scale, scale) if out else (scale, 1 / scale)
        animations: list[Animation] = [FadeOut(mobject, scale=before) for mobject in _listed(current)]
        animations += [FadeIn(mobject, scale=after) for mobject in _listed(future)]
        return self._show(animations, kwargs, is_returned=return_animation)

    def _show(
        self, animations: list[Animation], options: dict[str, Any], *, is_returned: bool
    ) -> Animation | None:
        if not animations:
            return None
        group = AnimationGroup(*animations, **options)
        if is_returned:
            return group
        self.play(group)
        return None


class ThreeDSlide(Slide, ThreeDScene):
    """A scene in slides, in three dimensions."""


def notes_of(section: object) -> str:
    """Return the notes of a section; nothing if it is no slide."""
    return _notes.get(section, "")


def _listed(mobjects: Mobject | Sequence[Mobject]) -> Sequence[Mobject]:
    return [mobjects] if isinstance(mobjects, Mobject) else mobjects


def _dedented(notes: str) -> str:
    """Return notes without the indentation that their lines share; the first line may have none."""
    first, *others = notes.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in others if line.strip()]
    least = min(indents, default=0)
    return "\n".join([first.strip(), *(line[least:] for line in others)]).strip()
