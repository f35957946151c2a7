"""Descriptions of exceptions for the scene's author: the problem, and the line of their code.

The text contains no paths of the machine and no lines of other code.
"""

import errno
import re
import sys
from collections.abc import Callable
from pathlib import Path

from ..advice import tex_fixes, typeset
from ..advice.advice import Advice
from ..advice.causes import advise
from ..advice.edits import with_base, with_self
from ..advice.fixes import fix_of
from ..advice.names import import_hint
from ..advice.place import Place, Span, line_of, locate, place_of
from ..messages import Call, Finding, FindingKind, SceneFault
from ..protocol import ERROR_BYTES_MAX
from ..scene_error import Failure, SceneError, finding
from ..tex import errors as tex_errors
from ..tex.errors import TexError
from . import author_frames, scene_folder, studio

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_MESSAGE_CHARACTERS_MAX = 2000
_CODE: SceneFault = "scene"


def describe(
    error: BaseException,
    code: str,
    folder: Path,
    *,
    disk_bytes: int,
    complete: Callable[[BaseException, str], tuple[str, FindingKind | None]],
    play: int | None,
) -> Failure:
    """Describe an error that the source `code`, run in `folder`, raised. The text has at most 4 KiB.

    `disk_bytes`: the disk limit, which is named if the scene's file system is full; `complete`: adds the
    cause that the message of an error leaves out; `play`: the last play that had begun.
    """
    path = str(scene_folder.source_path(folder))
    tex = tex_errors.read(error)
    place = place_of(error, path, code)
    advice = _advice(error, place, code)
    if isinstance(error, SyntaxError) and error.filename == path:
        message, fault, kind = f"{type(error).__name__}: {error.msg}", _CODE, advice.kind
    elif tex is not None:
        message, fault, kind = tex.message, "tex", "tex"
    else:
        message, fault, kind = _summary(error, disk_bytes, complete, advice.kind)
    message = _one_line(_without_paths(message, folder)[:_MESSAGE_CHARACTERS_MAX])
    calls = author_frames.calls_to(error, folder)
    found = finding(kind, message, advice.hint, advice.candidates)
    if isinstance(error, SceneError):
        found = finding(kind, message, error.hint, error.candidates)
        if error.line is not None:
            locate(found, Span(error.line), code)
            found["fix"] = with_self(error.line, code) or with_base(error.line, code)
    found["play"] = play
    found["calls"] = author_frames.shortened(calls)
    if place is not None:
        span = advice.span or place.span
        locate(found, span, code)
        found["fix"] = fix_of(advice, span, code)
    if tex is not None:
        _explain_tex(found, tex, place, code)
    return Failure(_text(message, tex, place, code, calls), fault, found)


def _text(message: str, tex: TexError | None, place: Place | None, code: str, calls: list[Call]) -> str:
    parts = [f"{message}\nin: {_one_line(tex.source)}" if tex and tex.source else message]
    line = line_of(code, place.span.line) if place else None
    if place is not None and line is not None:
        parts.append(f"line {place.span.line}: {line}")
    text = _CONTROL.sub(" ", "\n".join([*parts, *author_frames.describe(calls)]))
    return text.encode("utf-8", "replace")[:ERROR_BYTES_MAX].decode("utf-8", "ignore")


def _explain_tex(found: Finding, tex: TexError, place: Place | None, code: str) -> None:
    packages = typeset.packages_for(tex.message)
    is_math = place is None or typeset.is_of_math(place.node)
    hint, candidates = typeset.advice_for(tex.message, tex.source, is_math=is_math)
    found["hint"], found["candidates"] = hint, list(candidates)
    found["fix"] = tex_fixes.fix_of(tex.message, candidates, place.node if place else None, code)
    found["tex"] = {
        "source": tex.source,
        "logLine": tex.message.removeprefix("TeX: "),
        "packages": [*packages],
    }


def _advice(error: BaseException, place: Place | None, code: str) -> Advice:
    """Return the advice for an error; none if looking at the scene's objects fails, whatever they do."""
    try:
        return advise(error, place, code)
    except BaseException:
        return Advice("scene:error")


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)


def _summary(
    error: BaseException,
    disk_bytes: int,
    complete: Callable[[BaseException, str], tuple[str, FindingKind | None]],
    kind: FindingKind,
) -> tuple[str, SceneFault, FindingKind]:
    if isinstance(error, SceneError):
        return str(error), error.failed_by, error.kind
    if isinstance(error, SystemExit):
        return "The scene ended itself with sys.exit().", _CODE, "scene:exit"
    if isinstance(error, KeyboardInterrupt):
        return "The scene was interrupted (KeyboardInterrupt).", _CODE, "scene:exit"
    if isinstance(error, MemoryError):
        return "MemoryError: the scene needs more memory than the limit.", "limit:memory", "limit:memory"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "A file grew beyond the limit for files.", "limit:fileSize", "limit:fileSize"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        text = f"The scene's files were larger than the limit of {_size(disk_bytes)} together."
        return text, "limit:disk", "limit:disk"
    name = type(error).__name__
    message, cause = complete(error, _message(error))
    if isinstance(error, ModuleNotFoundError):
        message += import_hint(error.name or "", is_local=scene_folder.folder() is not None)
    return f"{name}: {message}" if message else name, _CODE, cause or kind


def _size(size_bytes: int) -> str:
    mib = size_bytes / (1 << 20)
    return f"{mib / 1024:g} GiB" if mib >= 1024 and mib % 512 == 0 else f"{round(mib)} MiB"


def _message(error: BaseException) -> str:
    try:
        return str(error).strip()
    except Exception:  # a scene's exception class may have a broken __str__
        return ""


def _without_paths(text: str, folder: Path) -> str:
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    package = str(Path(__file__).parents[1])
    roots = {*filter(None, sys.path), sys.prefix, sys.base_prefix, package}
    roots |= {str(place) for place in (studio.folder(), scene_folder.folder()) if place}
    for root in sorted(roots, key=len, reverse=True):
        if root != "/":
            text = text.replace(f"{root}/", "").replace(root, "")
    return text
