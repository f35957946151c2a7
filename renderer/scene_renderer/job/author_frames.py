"""The frames of a traceback or stack that run the author's own files."""

import linecache
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType

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


def describe(error: BaseException, folder: Path) -> list[str]:
    """Describe the author's calls that led to an error, outermost first, if there are several."""
    calls = list(_calls(traceback.walk_tb(error.__traceback__), folder))
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        name = shown_name(error.filename, folder)
        if name is not None:
            calls.append(f"{name}:{error.lineno}: {(error.text or '').strip()[:_LINE_CHARACTERS_MAX]}")
    return _shortened(calls)


def describe_stack(stack: Iterable[tuple[FrameType, int]], folder: Path) -> list[str]:
    """Describe the author's calls in a stack of frames and their lines in the same way, outermost first."""
    return _shortened(list(_calls(stack, folder)))


def _shortened(calls: list[str]) -> list[str]:
    if len(calls) < 2:
        return []
    left_out = len(calls) - _FIRST - _LAST
    if left_out > 0:
        calls[_FIRST:-_LAST] = [f"… {left_out} more calls"]
    return [f"  {call}" for call in calls]


def _calls(stack: Iterable[tuple[FrameType, int]], folder: Path) -> Iterator[str]:
    for frame, line in stack:
        name = shown_name(frame.f_code.co_filename, folder)
        if name is None:
            continue
        code = frame.f_code.co_name
        place = "" if code == "<module>" else f" in {code}"
        text = linecache.getline(frame.f_code.co_filename, line).strip()[:_LINE_CHARACTERS_MAX]
        yield f"{name}:{line}{place}: {text}"
