"""Captions as WebVTT (https://www.w3.org/TR/webvtt1/)."""

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
