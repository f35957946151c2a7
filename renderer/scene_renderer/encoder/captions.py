"""Captions as WebVTT (https://www.w3.org/TR/webvtt1/) and SubRip."""

import re

from ..scene_error import SceneError
from ..video.frames import Cue

_HEAD = "WEBVTT\n\n"
# Browsers read up to six digits of hours.
_LAST_MS = (999_999 * 3600 + 59 * 60 + 59) * 1000 + 999
_BYTES_MAX = 16_777_216
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def text_of(cues: list[Cue]) -> str:
    """Return the visible cues as a file; nothing if there are none. Raises SceneError if it is too large."""
    blocks = [block for cue in sorted(cues, key=lambda cue: cue.start_s) if (block := _block(cue))]
    text = _HEAD + "\n".join(blocks) if blocks else ""
    if len(text.encode()) > _BYTES_MAX:
        raise SceneError("The captions are too large.")
    return text


def subrip_of(cues: list[Cue]) -> str:
    """Return the visible cues as SubRip; nothing if there are none. Raises SceneError if it is too large."""
    shown = [shown for cue in sorted(cues, key=lambda cue: cue.start_s) if (shown := _shown(cue))]
    # SubRip has no escapes: an arrow must not look like that of a time.
    blocks = [
        f"{number}\n{_comma(start)} --> {_comma(end)}\n{text.replace('-->', '->')}\n"
        for number, (start, end, text) in enumerate(shown, 1)
    ]
    text = "\n".join(blocks)
    if len(text.encode()) > _BYTES_MAX:
        raise SceneError("The captions are too large.")
    return text


def _block(cue: Cue) -> str:
    if (shown := _shown(cue)) is None:
        return ""
    start, end, text = shown
    # "-->" would start another cue, so ">" is escaped.
    return f"{start} --> {end}\n{text.translate(_ESCAPES)}\n"


def _shown(cue: Cue) -> tuple[str, str, str] | None:
    """Return start, end and text of a cue; None if it is never seen. Blank lines would end it."""
    start_ms, end_ms = (_milliseconds(seconds) for seconds in (cue.start_s, cue.end_s))
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", cue.text) if line.strip()]
    if end_ms <= start_ms or not lines:
        return None
    return timestamp(start_ms), timestamp(end_ms), _CONTROL.sub("\ufffd", "\n".join(lines))


def _comma(time: str) -> str:
    return time.replace(".", ",")


def _milliseconds(seconds: float) -> int:
    return round(min(max(0.0, seconds * 1000), _LAST_MS))


def timestamp(milliseconds: int) -> str:
    """Return a time as WebVTT writes it."""
    seconds, ms = divmod(milliseconds, 1000)
    minutes, s = divmod(seconds, 60)
    h, m = divmod(minutes, 60)
    return f"{h:02}:{m:02}:{s:02}.{ms:03}"
