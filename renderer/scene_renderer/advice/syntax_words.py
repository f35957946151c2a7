"""Replacements of what is Python of other languages, or no Python at all: of one line each."""

import re
from collections.abc import Iterator

from ..messages import Fix
from .edits import fix
from .place import whole_line

_QUOTES = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "\u00b4": "'"}
)
_CHARACTERS = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u00d7": "*", "\u00a0": " ", "\u200b": None, "\ufeff": None}
)
_FENCE = re.compile(r"\s*(?:```|~~~)\w*\s*")
_PROSE = re.compile(r"[A-Z][\w',]*( [\w',()*`-]+){3,}[.:!]?\s*")
_STRING = re.compile(r"('''|\"\"\"|'|\")(?:\\.|(?!\1).)*?\1|#.*")
_NESTED = re.compile(r"\{([^{}'\"]*)\[\"(\w+)\"\]([^{}'\"]*)\}")


def rewritten(error: SyntaxError, code: str) -> Iterator[Fix]:
    """Yield what may be written instead of the line of a syntax error."""
    message, number = error.msg or "", error.lineno or 0
    line = whole_line(code, number)
    if line is None:
        return
    for new in _lines(message, line, error.offset or 0):
        if new != line and (one := fix(number, 1, len(line) + 1, new)) is not None:
            yield one


def _lines(message: str, line: str, column: int) -> Iterator[str]:
    if _FENCE.fullmatch(line):
        yield "#"
    elif _PROSE.fullmatch(line):
        yield f"# {line}"
    if "invalid character" in message or "non-printable" in message:
        yield line.translate(_QUOTES)
        yield line.translate(_QUOTES).translate(_CHARACTERS)
    elif "f-string" in message:
        yield _NESTED.sub(r"{\1['\2']\3}", line)
        quote = line.rfind('"') if line.rfind('"') > line.rfind("'") else line.rfind("'")
        yield f"{line[:quote]}}}{line[quote:]}"
    elif "invalid decimal literal" in message:
        # Numbers have no methods: a bracket is missing.
        yield _outside_of_strings(line, re.compile(r"(\d)\.(?=[a-z_]\w*\()"), r"\1).")
        yield _outside_of_strings(
            line, re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?=(?!e\d|j\b)[a-zA-Z_])"), r"\1 * "
        )
    elif "Maybe you meant '=='" in message:
        yield _outside_of_strings(line, re.compile(r"(?<![=!<>:])=(?!=)"), "==")
    elif message.startswith("unmatched"):
        yield line[: column - 1] + line[column:]
    elif match := re.match(r"closing parenthesis '(.)' does not match opening parenthesis '(.)'", message):
        closing = {"(": ")", "[": "]", "{": "}"}[match[2]]
        yield f"{line[: column - 1]}{closing}{line[column - 1 :]}"
        yield f"{line[: column - 1]}{closing}{line[column:]}"
    elif message.startswith("invalid syntax"):
        yield from _of_other_languages(line)


def _of_other_languages(line: str) -> Iterator[str]:
    for pattern, text in (
        (r"\s*&&\s*", " and "),
        (r"\s*\|\|\s*", " or "),
        (r"!(?=[\w(])", "not "),
        (r"^(\s*)(\w+)\+\+;?$", r"\1\2 += 1"),
        (r"^(\s*)(\w+)--;?$", r"\1\2 -= 1"),
        (r"\bnew (?=[A-Z]\w*\()", ""),
        (r"^(\s*)(?:let|var|const|int|float) (?=\w+ =)", r"\1"),
        (r"^(\s*for \w+(?:, \w+)*) (?=range\(|enumerate\(|zip\()", r"\1 in "),
        (r"^(\s*for) \((.+)\)\s*:\s*$", r"\1 \2:"),
        (r"^(\s*)(?:function|func|fn) (?=\w+\()", r"\1def "),
        (r"//", "#"),
        (r";\s*$", ""),
    ):
        yield _outside_of_strings(line, re.compile(pattern), text)


def _outside_of_strings(line: str, pattern: re.Pattern[str], text: str) -> str:
    """Replace a pattern where it is in no string and no comment."""
    if pattern.pattern.startswith("^"):
        return pattern.sub(text, line)
    parts: list[str] = []
    end = 0
    for match in _STRING.finditer(line):
        parts += [pattern.sub(text, line[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, pattern.sub(text, line[end:])])
