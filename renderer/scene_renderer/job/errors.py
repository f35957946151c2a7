"""Descriptions of exceptions for the scene's author: the problem, and the line of their code.

The text contains no paths of the machine and no lines of other code.
"""

import errno
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from ..messages import SceneFault
from ..protocol import ERROR_BYTES_MAX
from ..scene_error import SceneError
from ..tex import errors as tex_errors
from . import author_frames, scene_folder, studio

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_LINE_CHARACTERS_MAX = 200
_MESSAGE_CHARACTERS_MAX = 2000
_CODE: SceneFault = "scene"


def describe(
    error: BaseException,
    code: str,
    folder: Path,
    *,
    disk_bytes: int,
    complete: Callable[[BaseException, str], str],
) -> tuple[str, SceneFault]:
    """Describe, in at most 4 KiB, an error raised by the source `code`, run in `folder`, and say what it is.

    `disk_bytes`: the disk limit, which is named if the scene's file system is full; `complete`: adds the
    cause that the message of an error leaves out.
    """
    path = str(scene_folder.source_path(folder))
    if isinstance(error, SyntaxError) and error.filename == path:
        number, summary, fault = error.lineno, f"{type(error).__name__}: {error.msg}", _CODE
    else:
        number, (summary, fault) = _line_number(error, path), _summary(error, disk_bytes, complete)
    text = _without_paths(summary, folder)[:_MESSAGE_CHARACTERS_MAX]
    if number is not None:
        lines = re.split(r"\r\n|\r|\n", code)
        if 1 <= number <= len(lines):
            text += f"\nline {number}: {lines[number - 1].strip()[:_LINE_CHARACTERS_MAX]}"
    text = "\n".join([text, *author_frames.describe(error, folder)])
    text = _CONTROL.sub(" ", text)
    return text.encode("utf-8", "replace")[:ERROR_BYTES_MAX].decode("utf-8", "ignore"), fault


def _summary(
    error: BaseException, disk_bytes: int, complete: Callable[[BaseException, str], str]
) -> tuple[str, SceneFault]:
    tex = tex_errors.describe(error)
    if tex is not None:
        return tex, "tex"
    if isinstance(error, SceneError):
        return str(error), error.failed_by
    if isinstance(error, SystemExit):
        return "The scene ended itself with sys.exit().", _CODE
    if isinstance(error, KeyboardInterrupt):
        return "The scene was interrupted (KeyboardInterrupt).", _CODE
    if isinstance(error, MemoryError):
        return "MemoryError: the scene needs more memory than the limit.", "limit:memory"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "A file grew beyond the limit for files.", "limit:fileSize"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"The scene's files were larger than the limit of {_size(disk_bytes)} together.", "limit:disk"
    name = type(error).__name__
    message = complete(error, _message(error))
    if isinstance(error, ModuleNotFoundError):
        message += _import_hint(error.name or "")
    return f"{name}: {message}" if message else name, _CODE


def _size(size_bytes: int) -> str:
    mib = size_bytes / (1 << 20)
    return f"{mib / 1024:g} GiB" if mib >= 1024 and mib % 512 == 0 else f"{round(mib)} MiB"


def _message(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:  # a scene's exception class may have a broken __str__
        return ""


def _import_hint(module: str) -> str:
    top = module.partition(".")[0]
    if top in ("manimlib", "manimgl", "manim_imports_ext", "big_ol_pile_of_manim_imports"):
        return (
            ". manimlib is ManimGL, another library; scenes here are for Manim Community: "
            "use `from manim import *`."
        )
    if top in ("manim", "scene") or scene_folder.folder():
        return ""
    return (
        ". Scenes can import Manim, NumPy, SciPy, SymPy, Pillow, NetworkX, Typst, the standard library and "
        "what the studio that runs this service has put into python/."
    )


def _line_number(error: BaseException, path: str) -> int | None:
    """Return the line of the innermost frame in the author's file."""
    number = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            number = line
    return number


def _without_paths(text: str, folder: Path) -> str:
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    package = str(Path(__file__).parents[1])
    roots = {*filter(None, sys.path), sys.prefix, sys.base_prefix, package}
    roots |= {str(place) for place in (studio.folder(), scene_folder.folder()) if place}
    for root in sorted(roots, key=len, reverse=True):
        if root != "/":
            text = text.replace(f"{root}/", "").replace(root, "")
    return text
