"""The frames of a traceback or stack that run the author's own files."""

import linecache
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType

from ..messages import Call
from . import scene_folder, studio

_FIRST, _LAST = 6, 8
_LINE_CHARACTERS_MAX = 120


def shown_name(filename: str, folder: Path) -> str | None:
    """Return the name of an author's file, relative to their folder; None for other files."""
    places = [folder, scene_folder.folder(), studio.folder()]
    for place in places:
        if place is not None and filename.startswith(f"{place}/"):
            return filename[len(str(place)) + 1 :]
    return None


def calls_to(error: BaseException, folder: Path) -> list[Call]:
    """Return the author's calls that led to an error, outermost first."""
    calls = list(_calls(traceback.walk_tb(error.__traceback__), folder))
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        name = shown_name(error.filename, folder)
        if name is not None:
            text = (error.text or "").strip()[:_LINE_CHARACTERS_MAX]
            calls.append({"file": name, "line": error.lineno, "function": "", "source": text})
    return calls


def describe(calls: list[Call]) -> list[str]:
    """Describe calls in a line each, if there are several."""
    if len(calls) < 2:
        return []
    lines = [f"  {_described(call)}" for call in calls]
    left_out = len(calls) - _FIRST - _LAST
    if left_out > 0:
        lines[_FIRST:-_LAST] = [f"  … {left_out} more calls"]
    return lines


def shortened(calls: list[Call]) -> list[Call]:
    """Return the first and the last of many calls."""
    return calls if len(calls) <= _FIRST + _LAST else [*calls[:_FIRST], *calls[-_LAST:]]


def describe_stack(stack: Iterable[tuple[FrameType, int]], folder: Path) -> list[str]:
    """Describe the author's calls in a stack of frames and their lines in the same way, outermost first."""
    return describe(list(_calls(stack, folder)))


def _described(call: Call) -> str:
    place = f" in {call['function']}" if call["function"] else ""
    return f"{call['file']}:{call['line']}{place}: {call['source']}"


def _calls(stack: Iterable[tuple[FrameType, int]], folder: Path) -> Iterator[Call]:
    for frame, line in stack:
        name = shown_name(frame.f_code.co_filename, folder)
        if name is None:
            continue
        code = frame.f_code.co_name
        text = linecache.getline(frame.f_code.co_filename, line).strip()[:_LINE_CHARACTERS_MAX]
        yield {"file": name, "line": line, "function": "" if code == "<module>" else code, "source": text}
