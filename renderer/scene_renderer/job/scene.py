"""Imports the scene's source as a module and finds the class to render."""

import difflib
import importlib.util
import inspect
import io
import keyword
import linecache
import sys
import tokenize
import traceback
import unicodedata
from pathlib import Path
from types import ModuleType
from typing import Any

from manim import Scene

from ..messages import CheckJob, ListJob, ReadJob, RenderJob
from ..scene_error import SceneError
from . import author_frames, scene_folder

_LINE_CHARACTERS_MAX = 200
_CANDIDATES_MAX = 5


def load(source: bytes, class_name: str, folder: Path) -> type[Scene]:
    """Write the source to its file, import it and return the class.

    Raises SceneError if there is no such scene, and any exception of the source.
    """
    return find(_load(source, folder), unicodedata.normalize("NFKC", class_name))


def names(source: bytes, folder: Path) -> list[str]:
    """Write the source to its file, import it and return the scenes that it defines, as ``manim`` does.

    Raises any exception of the source.
    """
    return sorted(_defined(_load(source, folder)))


def explain_call(scene: type[Scene], error: TypeError, folder: Path) -> None:
    """Raise SceneError if the error is that Manim can't create the scene, or call its ``construct``."""
    calls = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    place = uncallable(scene)
    if place is None or any(author_frames.shown_name(file, folder) for file in calls):
        return
    others = [
        name
        for name, other in _defined(sys.modules[scene.__module__]).items()
        if other is not scene and uncallable(other) is None
    ]
    line = None if place is None else _line_number(place)
    source = linecache.getline(str(scene_folder.source_path(folder)), line) if line is not None else ""
    raise call_refused(error, others, line, source, is_class=place is scene) from error


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


def _line_number(place: Any) -> int | None:
    """Return the line of a class or method in the source; None if it isn't there."""
    try:
        return inspect.findsource(place)[1] + 1
    except (OSError, TypeError, IndexError):
        return None


def text_of(job: RenderJob | CheckJob | ListJob | ReadJob) -> str:
    """Return the code of a job as Python decodes it, or approximately if it can't."""
    if not job.is_bytes:
        return job.code
    try:
        return importlib.util.decode_source(job.code.encode("latin-1"))
    except (SyntaxError, UnicodeError):
        return job.code.encode("latin-1").decode("utf-8", "replace")


def source_of(job: RenderJob | CheckJob | ListJob) -> bytes:
    """Return the file that Python reads: a text is encoded as its coding line says. Raises SceneError."""
    return job.code.encode("latin-1") if job.is_bytes else _encoded(job.code)


def _load(source: bytes, folder: Path) -> ModuleType:
    path = scene_folder.source_path(folder)
    path.write_bytes(source)
    return _import(path, scene_folder.module_name(), scene_folder.module_file(folder))


def _encoded(code: str) -> bytes:
    """Encode a text as declared in its coding line, because Python decodes it accordingly."""
    for number, line in enumerate(code.split("\n"), start=1):
        if "\0" in line:
            raise SceneError(f"line {number}: the code contains a NUL character.", kind="scene:syntax")
    data = code.encode()
    encoding = "utf-8"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data if encoding == "utf-8-sig" else code.encode(encoding)
    except SyntaxError:
        return data  # unknown encoding: the import reports it
    except UnicodeEncodeError:
        message = f"The code has characters that the encoding it names, {encoding}, lacks."
        raise SceneError(message, kind="scene:syntax") from None


def _import(path: Path, name: str, file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = file
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find(module: ModuleType, name: str) -> type[Scene]:
    """Return the scene of a name. Raises SceneError if there is none."""
    found = vars(module).get(name) or _defined(module).get(name)
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
    raise _refusal(problem, name, found, _defined(module))


def _refusal(problem: str, name: str, found: object, scenes: dict[str, type[Scene]]) -> SceneError:
    hint = f"Scenes in the code: {', '.join(scenes)}." if scenes else "The code defines no scene."
    folded = [other for other in scenes if other.casefold() == name.casefold()]
    near = folded or difflib.get_close_matches(name, scenes, n=1)
    meant = found if found is not None else scenes.get(next(iter([*near, *scenes]), ""))
    message = f"{problem} Did you mean {near[0]!r}? {hint}" if near else f"{problem} {hint}"
    candidates = tuple(dict.fromkeys([*near, *scenes]))[:_CANDIDATES_MAX]
    line = _line_number(meant)
    return SceneError(message, kind="scene:class", hint=hint, candidates=candidates, line=line)


def _defined(module: ModuleType) -> dict[str, type[Scene]]:
    """Return the module's own scenes by ``__name__``, like ``manim``."""
    return {
        value.__name__: value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scene) and value.__module__ == module.__name__
    }
