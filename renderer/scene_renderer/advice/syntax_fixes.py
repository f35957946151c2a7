"""Replacements that make code with a syntax error valid."""

import ast
import io
import itertools
import re
import tokenize
from collections.abc import Iterator

from ..messages import Fix
from . import syntax_words
from .place import whole_line

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LINES_MAX = 20
# Of longer code, each try to parse it would take long.
_CODE_CHARACTERS_MAX = 50_000
_UNCLOSED = re.compile(r"'([(\[{])' was never closed")
_COMMENT = re.compile(r"\s*(?:#[^'\"]*)?$")
_ENDS_OPERAND = re.compile(r"[\w)\]}'\"]$")
_CALL_AFTER = re.compile(
    r"\)\s+(?=[A-Za-z_][\w.]*\()|\d\s+(?=\d)|['\"]\s+(?=['\"])"
    r"|\)[ \t]+(?!(?:and|as|else|for|if|in|is|not|or)\b)(?=[A-Za-z_])"
)
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
    elif "positional argument follows keyword" in message:
        fixes = _positional_first(line, code)
    elif "keyword argument repeated" in message:
        fixes = _once(message, line, code)
    elif isinstance(error, IndentationError) and "expected an indented block" in message:
        fixes = _one_indented(line, code)
    elif isinstance(error, TabError):
        fixes = _without_tabs(line, code)
    elif isinstance(error, IndentationError):
        fixes = itertools.chain(_indented(message, line, code), _without_tabs(line, code))
    valid = (fix for fix in fixes if _is_valid(applied(fix, code)))
    lines = [*syntax_words.rewritten(error, code)]
    if "expected ':'" in message:
        lines += _with_colon(line, code)
    better = (fix for fix in lines if _is_better(fix, line, code))
    return next(itertools.chain(valid, better), None)


def _is_better(fix: Fix, line: int, code: str) -> bool:
    """Whether code is valid with a replacement, or the first error is further down."""
    new = applied(fix, code)
    try:
        ast.parse(new)
    except SyntaxError as error:
        return (error.lineno or 0) > line
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


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
        for gap in _CALL_AFTER.finditer(text):
            yield _at(number, gap.start() + 2, ",")
        for name in _NAMED.finditer(text):
            before = text[: name.start()].rstrip()
            if before and before != text[: name.start()] and _ENDS_OPERAND.search(before):
                yield _at(number, len(before) + 1, ",")


def _positional_first(line: int, code: str) -> Iterator[Fix]:
    """Put the last argument of a call before those with names, if all are simple."""
    text = whole_line(code, line) or ""
    for match in re.finditer(r"\(([^()]*)\)", text):
        parts = [part.strip() for part in match[1].split(",")]
        by_place = [part for part in parts if not _NAMED.match(part)]
        if by_place and _NAMED.match(parts[0]) and len(by_place) < len(parts):
            named = [part for part in parts if _NAMED.match(part)]
            new = ", ".join([*by_place, *named])
            yield {"line": line, "column": match.start(1) + 1, "endColumn": match.end(1) + 1, "text": new}


def _one_indented(line: int, code: str) -> Iterator[Fix]:
    """Indent the line below the head of a loop or a condition, or the only one of a function."""
    head, text = whole_line(code, line - 1) or "", whole_line(code, line) or ""
    column = len(head) - len(head.lstrip(" "))
    below = next((one for one in code.split("\n")[line:] if one.strip()), "")
    is_only = len(below) - len(below.lstrip(" ")) < len(text) - len(text.lstrip(" "))
    if text.strip() and (is_only or re.match(r"\s*(?:for|while|if|elif|else|with)\b", head)):
        end = len(text) - len(text.lstrip()) + 1
        yield {"line": line, "column": 1, "endColumn": end, "text": " " * (column + 4)}


def _once(message: str, line: int, code: str) -> Iterator[Fix]:
    """Leave out an argument that is given twice with the same value."""
    name = message.rpartition(": ")[2]
    text = whole_line(code, line) or ""
    found = [*re.finditer(rf",\s*{re.escape(name)}\s*=\s*([\w.'\"#-]+)(?=\s*[,)])", text)]
    values = re.findall(rf"\b{re.escape(name)}\s*=\s*([\w.'\"#-]+)", text)
    if found and len(values) == 2 and values[0] == values[1]:
        last = found[-1]
        kept = text[last.start() - 1]
        yield {"line": line, "column": last.start(), "endColumn": last.end() + 1, "text": kept}


def _without_tabs(line: int, code: str) -> Iterator[Fix]:
    """Indent a line that begins with tabs like one of the blocks around it."""
    text = whole_line(code, line) or ""
    indentation = text[: len(text) - len(text.lstrip())]
    if "\t" not in indentation:
        return
    previous = (whole_line(code, line - 1) or "").expandtabs(8)
    start = len(indentation.expandtabs(8))
    before = len(previous) - len(previous.lstrip())
    widths = sorted(_widths(line, code), key=lambda width: (width != before, abs(width - start)))
    opens = previous.rstrip().endswith(":")
    for width in [before + 4] if opens else widths:
        yield {"line": line, "column": 1, "endColumn": len(indentation) + 1, "text": " " * width}


def _indented(message: str, line: int, code: str) -> Iterator[Fix]:
    """Move a line to the column of a block around it that is nearest."""
    text = whole_line(code, line) or ""
    column = len(text) - len(text.lstrip(" "))
    if "unindent does not match" in message or "unexpected indent" in message:
        if "unexpected indent" in message and (widths := _widths(line, code)):
            indentation = " " * max(widths)
            yield {"line": line, "column": 1, "endColumn": column + 2, "text": indentation + text[column]}
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
