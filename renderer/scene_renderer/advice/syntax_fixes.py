"""Replacements that make code with a syntax error valid."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from ..messages import Fix
from .place import whole_line

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LINES_MAX = 20
# Of longer code, each try to parse it would take long.
_CODE_CHARACTERS_MAX = 50_000
_UNCLOSED = re.compile(r"'([(\[{])' was never closed")
_COMMENT = re.compile(r"\s*(?:#[^'\"]*)?$")
_ENDS_OPERAND = re.compile(r"[\w)\]}'\"]$")
_NAMED = re.compile(r"\w+\s*=(?!=)")


def fix_of(error: SyntaxError, code: str) -> Fix | None:
    """Return what to write for a syntax error; None if that is not certain."""
    message, line = error.msg or "", error.lineno or 0
    fixes: Iterator[Fix] = iter(())
    if len(code) > _CODE_CHARACTERS_MAX or "\r" in code:
        return None
    if "expected ':'" in message:
        fixes = _with_colon(line, code)
    elif "unterminated string literal" in message:
        fixes = _quoted(error, code)
    elif match := _UNCLOSED.search(message):
        fixes = _closed(match[1], line, code)
    elif message == "invalid syntax":
        fixes = _closed_before_colon(line, code)
    elif "Perhaps you forgot a comma" in message:
        fixes = _with_comma(error, code)
    elif isinstance(error, IndentationError):
        fixes = _indented(message, line, code)
    return next((fix for fix in fixes if _is_valid(applied(fix, code))), None)


def applied(fix: Fix, code: str) -> str:
    """Return the code with a replacement."""
    lines = code.split("\n")
    line = lines[fix["line"] - 1]
    lines[fix["line"] - 1] = line[: fix["column"] - 1] + fix["text"] + line[fix["endColumn"] - 1 :]
    return "\n".join(lines)


def _is_valid(code: str) -> bool:
    """Whether code can be parsed, and no bracket was closed too late."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not any(_is_of_text(node) for node in ast.walk(tree))


def _is_of_text(node: ast.AST) -> bool:
    """Whether an attribute is one that no text has: the text was an argument of what is before it."""
    is_text = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant)
    return is_text and isinstance(node, ast.Attribute) and not hasattr(str, node.attr)


def _with_colon(line: int, code: str) -> Iterator[Fix]:
    text = whole_line(code, line) or ""
    if match := re.match(r"\s*else if ", text):
        yield {
            "line": line,
            "column": 1,
            "endColumn": match.end(),
            "text": match[0].replace("else if", "elif")[:-1],
        }
    yield _at(line, _end(text), ":")


def _quoted(error: SyntaxError, code: str) -> Iterator[Fix]:
    """End a text before the brackets and the comma or colon at the end of its line."""
    line = error.lineno or 0
    text = whole_line(code, line) or ""
    quote = text[(error.offset or 1) - 1 :].lstrip("rRfFbBuU")[:1]
    end = len(text.rstrip())
    behind = len(text[:end]) - len(text[:end].rstrip(")]},:"))
    for column in range(end - behind, end + 1):
        yield _at(line, column + 1, quote)


def _closed(bracket: str, line: int, code: str) -> Iterator[Fix]:
    """Close a bracket at the end of its line, or of one of the lines below it."""
    for number in range(line, line + _LINES_MAX):
        text = whole_line(code, number)
        if text is None:
            return
        yield _at(number, _end(text), _CLOSING[bracket])


def _closed_before_colon(line: int, code: str) -> Iterator[Fix]:
    text = whole_line(code, line) or ""
    end = _end(text)
    if text[: end - 1].endswith(":"):
        yield _at(line, end - 1, ")")


def _with_comma(error: SyntaxError, code: str) -> Iterator[Fix]:
    """Put a comma where the next argument has a name, or is on the next line."""
    first, last = error.lineno or 0, error.end_lineno or error.lineno or 0
    for number in range(first, last + 1):
        text = whole_line(code, number) or ""
        if number < last and _ENDS_OPERAND.search(text[: _end(text) - 1]):
            yield _at(number, _end(text), ",")
        for name in _NAMED.finditer(text):
            before = text[: name.start()].rstrip()
            if before and before != text[: name.start()] and _ENDS_OPERAND.search(before):
                yield _at(number, len(before) + 1, ",")


def _indented(message: str, line: int, code: str) -> Iterator[Fix]:
    """Move a line to the column of a block around it that is nearest."""
    text = whole_line(code, line) or ""
    column = len(text) - len(text.lstrip(" "))
    if "unindent does not match" in message or "unexpected indent" in message:
        distances = sorted((abs(width - column), width) for width in _widths(line, code))
        is_one = len(distances) == 1 or (len(distances) > 1 and distances[0][0] < distances[1][0])
        if is_one and distances[0][0] < 4 and column > 0:
            indentation = " " * distances[0][1]
            yield {"line": line, "column": 1, "endColumn": column + 2, "text": indentation + text[column]}


def _widths(line: int, code: str) -> set[int]:
    """Return the indentations of the blocks that are open before a line."""
    widths = [0]
    source = "\n".join(code.split("\n")[: line - 1]) + "\n"
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.INDENT:
                widths.append(len(token.string))
            elif token.type == tokenize.DEDENT and token.start[0] < line:
                widths.pop()
    except (tokenize.TokenError, SyntaxError):
        return set()
    return set(widths)


def _end(text: str) -> int:
    """Return the column after the code of a line."""
    match = _COMMENT.search(text)
    return (match.start() if match else len(text)) + 1


def _at(line: int, column: int, text: str) -> Fix:
    return {"line": line, "column": column, "endColumn": column, "text": text}
