"""Finds the class to render in a module, and says why it can't be rendered."""

import difflib
import inspect
import keyword
from types import ModuleType
from typing import Any

from manim import Scene

from ..scene_error import SceneError

_LINE_CHARACTERS_MAX = 200
_CANDIDATES_MAX = 5


def call_refused(
    error: TypeError, others: list[str], line: int | None, source: str, *, is_class: bool
) -> SceneError:
    """Return the error for a scene that Manim can't create, or whose ``construct`` it can't call.

    `others`: scenes that can be rendered; `is_class`: the class is abstract.
    """
    text = f"TypeError: {error}."
    if not is_class:
        text += " Manim calls it without arguments."
    if others:
        text += f" Scenes in the code that can be rendered: {', '.join(others)}."
    if line is not None:
        text += f"\nline {line}: {source.strip()[:_LINE_CHARACTERS_MAX]}"
    hint = "Manim makes the scene, and calls `construct`, without arguments: give the others a default."
    return SceneError(text, kind="scene:class", hint=hint, candidates=tuple(others), line=line)


def uncallable(scene: type[Scene]) -> object:
    """Return an abstract class itself, or the method that needs arguments; None: a scene can be rendered."""
    if inspect.isabstract(scene):
        return scene
    for method in (scene.__init__, scene.construct):
        try:
            inspect.signature(method).bind(None)
        except TypeError:
            return method
        except ValueError:  # no signature
            continue
    return None


def line_number(place: Any) -> int | None:
    """Return the line of a class or method in the source; None if it isn't there."""
    try:
        return inspect.findsource(place)[1] + 1
    except (OSError, TypeError, IndexError):
        return None


def find(module: ModuleType, name: str) -> type[Scene]:
    """Return the scene of a name. Raises SceneError if there is none."""
    found = vars(module).get(name) or defined(module).get(name)
    if isinstance(found, type) and issubclass(found, Scene) and not found.__module__.startswith("manim."):
        return found
    if keyword.iskeyword(name):
        problem = f"{name!r} is a Python keyword: no class can have this name."
    elif found is None:
        problem = f"The code has no class {name!r}."
    elif isinstance(found, type) and not issubclass(found, Scene):
        problem = f"The class {name!r} is not a Scene: it must inherit from manim.Scene or a subclass of it."
    elif isinstance(found, type):
        problem = f"{name!r} is Manim's own class: the code has to define a subclass of it."
    else:
        problem = f"{name!r} is not a class."
    raise _refusal(problem, name, found, defined(module))


def _refusal(problem: str, name: str, found: object, scenes: dict[str, type[Scene]]) -> SceneError:
    hint = f"Scenes in the code: {', '.join(scenes)}." if scenes else "The code defines no scene."
    folded = [other for other in scenes if other.casefold() == name.casefold()]
    near = folded or difflib.get_close_matches(name, scenes, n=1)
    meant = found if found is not None else scenes.get(next(iter([*near, *scenes]), ""))
    message = f"{problem} Did you mean {near[0]!r}? {hint}" if near else f"{problem} {hint}"
    candidates = tuple(dict.fromkeys([*near, *scenes]))[:_CANDIDATES_MAX]
    line = line_number(meant)
    return SceneError(message, kind="scene:class", hint=hint, candidates=candidates, line=line)


def defined(module: ModuleType) -> dict[str, type[Scene]]:
    """Return the module's own scenes by ``__name__``, like ``manim``."""
    return {
        value.__name__: value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scene) and value.__module__ == module.__name__
    }
