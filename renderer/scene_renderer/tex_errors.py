"""TeX's own words about an expression that it couldn't set, read from its log."""

import re
import traceback
from pathlib import Path

_WRAPPER = re.compile(r"\\special\{dvisvgm:raw[^}]*\}")
_LINE = re.compile(r"^l\.(\d+) ?(.*)$")
_BYTES_MAX = 1_048_576
_CHARACTERS_MAX = 300


def describe(error: BaseException) -> str | None:
    """Return TeX's message and the line of TeX it is about; None when the error isn't TeX's."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if not frame.f_code.co_filename.endswith("tex_file_writing.py"):
            continue
        if frame.f_code.co_name == "compile_tex":
            source = frame.f_locals.get("tex_file")
            compiler = frame.f_locals.get("compiler", "TeX")
            if isinstance(error, FileNotFoundError):
                return f"TeX: the program {compiler!r} isn't there."
            if isinstance(source, Path):
                return _from_log(source)
        if frame.f_code.co_name == "convert_to_svg":
            return "TeX: what it has set can't be converted to curves (dvisvgm)."
    return None


def _from_log(source: Path) -> str:
    log = _lines(source.with_suffix(".log"))
    start = next((number for number, line in enumerate(log) if line.startswith("!")), None)
    if start is None:
        return "TeX failed without a message."
    text = f"TeX: {log[start].lstrip('! ')}"
    for line in log[start:]:
        if match := _LINE.match(line):
            tex = _lines(source)
            number = int(match[1])
            context = tex[number - 1] if number <= len(tex) else match[2]
            context = _WRAPPER.sub("", context).strip()[:_CHARACTERS_MAX]
            return f"{text}\nTeX line: {context}" if context else text
    return text


def _lines(path: Path) -> list[str]:
    try:
        with open(path, "rb") as file:
            return file.read(_BYTES_MAX).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
