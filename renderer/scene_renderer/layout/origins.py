"""Notes which line of the author made each mobject, while a scene is inspected."""

import sys
import weakref
from dataclasses import dataclass
from functools import update_wrapper
from types import FrameType
from typing import Any

from manim import CoordinateSystem, Mobject

from ..replacing import replace
from . import kinds


@dataclass(frozen=True)
class Origin:
    """Where a mobject was made, and as which of all."""

    line: int
    serial: int


class Origins:
    """The origins of mobjects, kept beside them: nothing of a mobject changes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._found: dict[int, tuple[weakref.ref[Mobject], Origin]] = {}
        self._texts: list[weakref.ref[Mobject]] = []
        self._labels: dict[int, weakref.ref[Mobject]] = {}
        self._serial = 0

    def begin(self) -> None:
        """Note the mobjects that are made, or copied by `copy`, from now on."""
        make, copy = Mobject.__init__, Mobject.copy
        note = self._note

        def __init__(self: Mobject, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            make(self, *args, **kwargs)
            note(self)

        def copied(self: Mobject) -> Mobject:
            made = copy(self)
            note(made)
            return made

        # Annotations tell whether a method changes a mobject (`job/stepping.py`), and signatures are shown.
        update_wrapper(__init__, make)
        update_wrapper(copied, copy)
        replace(Mobject, __init__=__init__, copy=copied)
        self._mark_labels_of_axes()

    def _mark_labels_of_axes(self) -> None:
        place = CoordinateSystem._get_axis_label
        marked = self._labels

        def placed(self: CoordinateSystem, *args: Any, **kwargs: Any) -> Mobject:
            label = place(self, *args, **kwargs)
            marked[id(label)] = weakref.ref(label)
            return label

        replace(CoordinateSystem, _get_axis_label=placed)

    def is_label_of_axes(self, mobject: Mobject) -> bool:
        """Whether axes have placed a mobject as their label."""
        label = self._labels.get(id(mobject))
        return label is not None and label() is mobject

    def _note(self, mobject: Mobject) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self._path:
            frame = frame.f_back
        line = frame.f_lineno if frame is not None else 0
        reference = weakref.ref(mobject)
        self._serial += 1
        self._found[id(mobject)] = reference, Origin(line, self._serial)
        if kinds.is_text(mobject):
            self._texts.append(reference)

    def of(self, mobject: Mobject) -> Origin | None:
        """Return the origin of a mobject; None if it isn't known."""
        reference, origin = self._found.get(id(mobject), (None, None))
        return origin if reference is not None and reference() is mobject else None

    def texts(self) -> list[Mobject]:
        """Return all texts that were made and still exist."""
        alive = [(reference, reference()) for reference in self._texts]
        self._texts = [reference for reference, text in alive if text is not None]
        return [text for _, text in alive if text is not None]
