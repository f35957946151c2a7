"""The names that the author has given to mobjects: variables, attributes, elements of lists."""

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from manim import Mobject, Scene

_ELEMENTS_MAX = 300
_DEPTH_MAX = 2
_NAME_CHARACTERS_MAX = 60


class Names:
    """Finds names in the frames of the author's code that are running."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._frames: list[FrameType] = []

    def remember(self) -> None:
        """Keep the frames that are running, for when they have ended."""
        self._frames = self._running()

    def forget(self) -> None:
        """Release the frames."""
        self._frames = []

    def known(self) -> dict[int, str]:
        """Return the names of all mobjects that can be reached, by their ids."""
        frames = self._running() or self._frames
        found: dict[int, str] = {}
        groups: list[tuple[str, Any]] = []
        for frame in frames:
            for name, value in self._variables(frame):
                if isinstance(value, Mobject):
                    found.setdefault(id(value), name)
                    groups.append((name, value))
                elif isinstance(value, list | tuple | dict):
                    groups.append((name, value))
        # Groups first: they place their elements, lists only hold them.
        groups.sort(key=lambda group: not isinstance(group[1], Mobject))
        for _ in range(_DEPTH_MAX):
            groups = [inner for name, value in groups for inner in _elements(name, value, found)]
        return found

    def _running(self) -> list[FrameType]:
        frames = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self._path:
                frames.append(frame)
            frame = frame.f_back
        return frames

    def _variables(self, frame: FrameType) -> Iterator[tuple[str, Any]]:
        variables = frame.f_locals
        for name, value in list(variables.items()):
            if isinstance(value, Scene):
                for attribute, inner in list(vars(value).items()):
                    if not attribute.startswith("_") and attribute not in _MANIMS:
                        yield f"{name}.{attribute}", inner
            elif not name.startswith("_"):
                yield name, value


# Attributes of scenes that aren't the author's names.
_MANIMS = frozenset(
    ("mobjects", "foreground_mobjects", "moving_mobjects", "static_mobjects", "animations", "camera")
)


def _elements(name: str, value: Any, found: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Name the elements of a group or collection; yield those that have elements themselves."""
    items: Any = ()
    if isinstance(value, Mobject):
        items = enumerate(value.submobjects[:_ELEMENTS_MAX])
    elif isinstance(value, dict):
        items = [(key, inner) for key, inner in list(value.items())[:_ELEMENTS_MAX]]
    elif isinstance(value, list | tuple):
        items = enumerate(value[:_ELEMENTS_MAX])
    for key, inner in items:
        label = f"{name}[{key!r}]"[:_NAME_CHARACTERS_MAX]
        if isinstance(inner, Mobject):
            if id(inner) in found:
                continue
            found[id(inner)] = label
        if isinstance(inner, Mobject | list | tuple | dict):
            yield label, inner
