"""Captions as WebVTT (https://www.w3.org/TR/webvtt1/)."""

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ..scene_error import SceneError

_HEAD = "WEBVTT\n\n"
_TIMES = re.compile(r"(\d{2,6}):([0-5]\d):([0-5]\d)\.(\d{3})", re.ASCII)
_ARROW = " --> "
# The latest time that `_TIMES` can represent.
_LAST_MS = (999_999 * 3600 + 59 * 60 + 59) * 1000 + 999
_CUES_MAX = 50_000
_CUE_CHARACTERS_MAX = 20_000
# The output of `_ESCAPES`; no other tag or character reference that a browser would interpret.
_ESCAPED = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_MARKUP = re.compile(r"&(?:amp|lt|gt);|[&<>]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True)
class Cue:
    """One caption: start and end in seconds of the video, and its text."""

    start_s: float
    end_s: float
    text: str


def text_of(cues: list[Cue]) -> str:
    """Return the visible cues as a file; nothing if there are none."""
    blocks = [block for cue in sorted(cues, key=lambda cue: cue.start_s) if (block := _block(cue))]
    return _HEAD + "\n".join(blocks) if blocks else ""


def write(cues: list[Cue], path: Path) -> None:
    """Write the visible cues to a file; remove the file if there are none."""
    with suppress(FileNotFoundError, IsADirectoryError):
        path.unlink()  # a scene may have created a file of this name
    if text := text_of(cues):
        path.write_text(text, encoding="utf-8", errors="replace")


def parse(data: bytes) -> list[Cue]:
    """Return the cues of a file written by `write`. Raises SceneError for any other content."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _strange() from None
    head, _, rest = text.partition(_HEAD)
    if head or not rest.endswith("\n"):
        raise _strange()
    blocks = rest.removesuffix("\n").split("\n\n", _CUES_MAX)
    if len(blocks) > _CUES_MAX:
        raise SceneError(f"There are more than {_CUES_MAX} captions.")
    cues = [_cue(block) for block in blocks]
    if any(cue.start_s > following.start_s for cue, following in pairwise(cues)):
        raise _strange()
    return cues


def _cue(block: str) -> Cue:
    times, _, text = block.partition("\n")
    start, _, end = times.partition(_ARROW)
    cue = Cue(_seconds(start), _seconds(end), _MARKUP.sub(_plain, text))
    if len(text) > _CUE_CHARACTERS_MAX:
        raise SceneError(f"A caption has more than {_CUE_CHARACTERS_MAX} characters.")
    if cue.end_s <= cue.start_s or not text.strip() or _CONTROL.search(text):
        raise _strange()
    return cue


def _seconds(timestamp: str) -> float:
    match = _TIMES.fullmatch(timestamp)
    if match is None:
        raise _strange()
    hours, minutes, seconds, milliseconds = map(int, match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000


def _plain(markup: re.Match[str]) -> str:
    if markup[0] not in _ESCAPED:
        raise _strange()
    return _ESCAPED[markup[0]]


def _strange() -> SceneError:
    return SceneError("The captions aren't as the renderer writes them.")


def _block(cue: Cue) -> str:
    start_ms, end_ms = (_milliseconds(seconds) for seconds in (cue.start_s, cue.end_s))
    # A blank line would end the cue, and "-->" would start another, so ">" is escaped.
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", cue.text) if line.strip()]
    if end_ms <= start_ms or not lines:
        return ""
    text = _CONTROL.sub("\ufffd", "\n".join(lines)).translate(_ESCAPES)
    return f"{_timestamp(start_ms)} --> {_timestamp(end_ms)}\n{text}\n"


def _milliseconds(seconds: float) -> int:
    return round(min(max(0.0, seconds * 1000), _LAST_MS))


def _timestamp(milliseconds: int) -> str:
    seconds, ms = divmod(milliseconds, 1000)
    minutes, s = divmod(seconds, 60)
    h, m = divmod(minutes, 60)
    return f"{h:02}:{m:02}:{s:02}.{ms:03}"
