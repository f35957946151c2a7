"""Imports the scene's source as a module and finds the class to render."""

import importlib.util
import io
import linecache
import sys
import tokenize
import traceback
import unicodedata
from pathlib import Path
from types import ModuleType

from manim import Scene

from ..advice import scenes
from ..messages import CheckJob, ListJob, ReadJob, RenderJob
from ..scene_error import SceneError
from . import author_frames, scene_folder


def load(source: bytes, class_name: str, folder: Path) -> type[Scene]:
    """Write the source to its file, import it and return the class.

    Raises SceneError if there is no such scene, and any exception of the source.
    """
    return scenes.find(_load(source, folder), unicodedata.normalize("NFKC", class_name))


def names(source: bytes, folder: Path) -> list[str]:
    """Write the source to its file, import it and return the scenes that it defines, as ``manim`` does.

    Raises any exception of the source.
    """
    return sorted(scenes.defined(_load(source, folder)))


def explain_call(scene: type[Scene], error: TypeError, folder: Path) -> None:
    """Raise SceneError if the error is that Manim can't create the scene, or call its ``construct``."""
    calls = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    place = scenes.uncallable(scene)
    if place is None or any(author_frames.shown_name(file, folder) for file in calls):
        return
    others = [
        name
        for name, other in scenes.defined(sys.modules[scene.__module__]).items()
        if other is not scene and scenes.uncallable(other) is None
    ]
    line = None if place is None else scenes.line_number(place)
    source = linecache.getline(str(scene_folder.source_path(folder)), line) if line is not None else ""
    raise scenes.call_refused(error, others, line, source, is_class=place is scene) from error


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
