"""Advice for code that is not valid Python."""

import re

from . import syntax_fixes
from .advice import Advice

_QUOTES = re.compile("[\u2018\u2019\u201c\u201d\u00b4\u201e]")
_FENCE = re.compile(r"^\s*(```|~~~)")
_LOOKS_LIKE_PROSE = re.compile(r"^[A-Z][\w',]*( [\w',()-]+){3,}[.:!]?\s*$")
_TEX = re.compile(r"\\[a-zA-Z]+\{|\\frac|\$.*\$")


def of_syntax(error: SyntaxError, code: str) -> Advice:
    """Return advice for a syntax error."""
    message = error.msg or ""
    lines = code.split("\n")
    line = lines[error.lineno - 1] if error.lineno and 1 <= error.lineno <= len(lines) else ""
    return Advice("scene:syntax", _hint(error, message, line, lines), fix=syntax_fixes.fix_of(error, code))


def _hint(error: SyntaxError, message: str, line: str, lines: list[str]) -> str | None:
    if _FENCE.match(line):
        return "Remove the Markdown fence: only the code between the fences is Python."
    if any(_FENCE.match(other) for other in lines):
        return "Remove the Markdown fences, and the text around them."
    if _QUOTES.search(line) and "invalid character" in message:
        return "Use straight quotes: ' or \"."
    if _LOOKS_LIKE_PROSE.match(line):
        return "This line is text, not code: remove it, or put `#` before it."
    if isinstance(error, TabError) or "inconsistent use of tabs" in message:
        return "Use spaces everywhere instead of tabs."
    if isinstance(error, IndentationError):
        if "expected an indented block" in message:
            return "Indent at least one line below it; write `pass` if there is nothing to do."
        return "Lines of one block begin in the same column."
    if "was never closed" in message:
        return "Close the bracket. If the code ends here, its end is missing."
    if "unterminated" in message:
        if "triple-quoted" in message:
            return "Close the text with three quotes."
        return "Close the text with the same quote on the same line, or use three quotes for several lines."
    if "f-string" in message:
        braces = " Write braces of TeX twice: `{{` and `}}`." if _TEX.search(line) else ""
        return f"Check the braces of the f-string.{braces}"
    if "unicodeescape" in message or "invalid escape" in message:
        return "Put an r before the quotes: r'…'."
    if "after line continuation" in message:
        return "Put TeX between quotes: r'\\frac{a}{b}'." if _TEX.search(line) else "Remove the backslash."
    if "Perhaps you forgot a comma" in message:
        return "Put a comma between the two, or an operator."
    if "expected ':'" in message:
        return "End the line with a colon."
    if "positional argument follows keyword argument" in message:
        return "Arguments with names come last."
    if "keyword argument repeated" in message:
        return "Give the argument once."
    if "cannot assign to" in message:
        return "Only names, attributes and elements can be assigned to; for a comparison use `==`."
    if "leading zeros" in message:
        return "Numbers don't begin with 0."
    if "loop" in message:
        return "`break` and `continue` belong in a loop: check the indentation."
    if "outside" in message:
        return "`return` and `yield` belong in a function: check the indentation."
    if "invalid character" in message or "non-printable" in message:
        return "Replace the character with an ASCII one, such as `-`, `*` or a space."
    return None
