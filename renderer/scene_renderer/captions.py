"""Captions as WebVTT (https://www.w3.org/TR/webvtt1/)."""

import re
from dataclasses import dataclass
from pathlib import Path

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\0": "\ufffd"})


@dataclass(frozen=True)
class Cue:
    """One caption: start and end in seconds of the video, and its text."""

    start_s: float
    end_s: float
    text: str


def write(cues: list[Cue], path: Path) -> bool:
    """Write the cues that can be seen to a file; False, and no file, when there are none."""
    blocks = [block for cue in sorted(cues, key=lambda cue: cue.start_s) if (block := _block(cue))]
    if blocks:
        path.write_text("WEBVTT\n\n" + "\n".join(blocks), encoding="utf-8", errors="replace")
    return bool(blocks)


def _block(cue: Cue) -> str:
    start_ms, end_ms = (max(0, round(seconds * 1000)) for seconds in (cue.start_s, cue.end_s))
    # A blank line would end the cue, and "-->" would begin another: its ">" is escaped.
    lines = [line.rstrip() for line in re.split(r"\r\n|\r|\n", cue.text) if line.strip()]
    if end_ms <= start_ms or not lines:
        return ""
    text = "\n".join(lines).translate(_ESCAPES)
    return f"{_timestamp(start_ms)} --> {_timestamp(end_ms)}\n{text}\n"


def _timestamp(milliseconds: int) -> str:
    seconds, ms = divmod(milliseconds, 1000)
    minutes, s = divmod(seconds, 60)
    h, m = divmod(minutes, 60)
    return f"{h:02}:{m:02}:{s:02}.{ms:03}"
