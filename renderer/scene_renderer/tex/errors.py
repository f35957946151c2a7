"""Reads TeX's error message for an expression from its log."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

_WRAPPER = re.compile(r"\\special\{dvisvgm:raw[^}]*\}")
_LINE = re.compile(r"^l\.(\d+)")
_LAST_COMMAND = re.compile(r"(\\(?:[a-zA-Z@]+|.))\s*$")
_ENVIRONMENT = re.compile(r"^\\(?:begin|end)\{[a-z*]+\}$")
_MISSING_FILE = re.compile(r"File `([^']+)' not found")
_MISSING_FONT = re.compile(r'The font "([^"]+)" cannot be found')
# By LaTeX and XeTeX: Metric (TFM) file not found; by LuaTeX: metric data not found or bad.
_MISSING_METRIC = re.compile(r"Font .* not loadable: [Mm]etric")
_PLACE = " It isn't installed here; it can be added to {} of the studio's folder."
_BYTES_MAX = 1_048_576
_CHARACTERS_MAX = 300


@dataclass(frozen=True)
class TexError:
    """TeX's message, and the affected line of TeX; empty if it isn't known."""

    message: str
    source: str = ""

    def __str__(self) -> str:
        """Return the text for the scene's author."""
        return f"{self.message}\nin: {self.source}" if self.source else self.message


COMMENT = "TeX: `%` begins a comment, so the rest of its line is missing."
# In the last line of a string, which Manim continues.
_COMMENT_AT_END = re.compile(r"(?<!\\)(?:\\\\)*%[^\n]*\Z")


def ends_in_comment(text: str) -> bool:
    """Whether what Manim writes behind an expression becomes a part of a comment in it."""
    return _COMMENT_AT_END.search(text) is not None


def read(error: BaseException) -> TexError | None:
    """Return what TeX says about an error; None if the error isn't TeX's."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if isinstance(error, ElementTree.ParseError):  # the marks of its parts are in a comment, too
            formula = vars(frame.f_locals.get("self", object)).get("tex_string")
            strings = vars(frame.f_locals.get("self", object)).get("tex_strings") or [formula]
            cut = [text for text in strings if isinstance(text, str) and ends_in_comment(text)]
            if cut:
                return TexError(COMMENT, cut[0][:_CHARACTERS_MAX])
        if not frame.f_code.co_filename.endswith("tex_file_writing.py"):
            continue
        if frame.f_code.co_name == "compile_tex":
            source = frame.f_locals.get("tex_file")
            compiler = frame.f_locals.get("compiler", "TeX")
            if isinstance(error, FileNotFoundError):
                return TexError(f"TeX: the program {compiler!r} isn't there.")
            if isinstance(source, Path):
                return _from_log(source)
        if frame.f_code.co_name == "convert_to_svg":
            return TexError("TeX: the output can't be converted to curves (dvisvgm).")
    return None


def _from_log(source: Path) -> TexError:
    log = _lines(source.with_suffix(".log"))
    start = next((number for number, line in enumerate(log) if line.startswith("!")), None)
    if start is None:
        return TexError("TeX failed without a message.")
    text = f"TeX: {log[start].removeprefix('! ')}"
    # TeX prints the input line broken at the error: the unknown command ends the first part.
    if "Undefined control sequence" in text and (command := _LAST_COMMAND.search(log[start + 1])):
        text = f"{text.rstrip('.')} {command[1]}"
    text += _advice(text)
    place = next((int(match[1]) for line in log[start:] if (match := _LINE.match(line))), None)
    return TexError(text, _expression(_lines(source), place))


def _advice(text: str) -> str:
    if _MISSING_FILE.search(text):
        return _PLACE.format("texmf/tex/latex/")
    if _MISSING_FONT.search(text):
        return _PLACE.format("fonts/")
    if _MISSING_METRIC.search(text):
        return _PLACE.format("texmf/fonts/")
    return ""


def _expression(tex: list[str], place: int | None) -> str:
    """Return the line that TeX names, or the whole expression if that line isn't the author's."""
    try:
        first, last = tex.index(r"\begin{document}") + 1, tex.index(r"\end{document}")
    except ValueError:
        return ""
    own = {
        number: line
        for number in range(first, last)
        if (line := _clean(tex[number])) and not _ENVIRONMENT.match(line)
    }
    line = own.get((place or 0) - 1, " ".join(own.values()))
    return line[:_CHARACTERS_MAX]


def _clean(line: str) -> str:
    return _WRAPPER.sub("", line).strip()


def _lines(path: Path) -> list[str]:
    try:
        with open(path, "rb") as file:
            return file.read(_BYTES_MAX).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
