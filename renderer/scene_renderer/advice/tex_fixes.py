"""Replacements in formulas, where what is at fault is written once in the strings of a call."""

import ast
import re
from collections.abc import Iterator

from ..messages import Fix
from . import tex_mends, typeset
from .place import span_of

_COMMAND = re.compile(r"Undefined control sequence\.? \\([a-zA-Z@]+)")
_PERCENT = re.compile(r"(?<!\\)%")
_PREFIX = re.compile(r"(?![rR]|[fF][rR])[fF]?(?=['\"])")
# Backslashes that Python reads in a string without r, and others than those of TeX's commands.
_OF_PYTHON = re.compile(r"\\[abfrtv](?=[a-z])")
_NOT_OF_TEX = re.compile(r"\\(?![a-zA-Z])|\\[xuUN](?=[0-9a-fA-F{])|\\n(?![aeou])")


def fix_of(message: str, candidates: tuple[str, ...], node: ast.expr | None, code: str) -> Fix | None:
    """Return what to write in a formula that a call makes; None if that is not certain.

    `candidates`: for a command that TeX does not know.
    """
    if node is None:
        return None
    if (command := _COMMAND.search(message)) and candidates:
        new = candidates[0]
        if not new.startswith("\\"):
            return _once(
                node, re.compile(rf"\\+{command[1]}(?![a-zA-Z])"), _for_strings(new, node, code), code
            )
        name = re.compile(rf"(?<=\\){command[1]}(?![a-zA-Z])")
        return _once(node, name, new.removeprefix("\\"), code)
    if "begins a comment" in message and not any(isinstance(one, ast.BinOp) for one in ast.walk(node)):
        return _once(node, _PERCENT, _for_strings("\\%", node, code), code)
    return _raw(node, code) or tex_mends.fix_of(message, node, typeset.packages_for(message), code)


def _for_strings(text: str, node: ast.expr, code: str) -> str:
    """Return TeX as the strings of an expression have it: with two backslashes, unless they have an r."""
    is_raw = not any(_PREFIX.match(source) for _, source in _strings(node, code))
    return text if is_raw else text.replace("\\", "\\\\")


def _raw(node: ast.expr, code: str) -> Fix | None:
    """Put an r before a string whose backslashes Python has read, if all in it are of TeX's commands."""
    broken = [(string, source) for string, source in _strings(node, code) if _OF_PYTHON.search(source)]
    if len(broken) != 1:
        return None
    string, source = broken[0]
    column = span_of(string, code).column
    if column is None or _PREFIX.match(source) is None or _NOT_OF_TEX.search(source):
        return None
    return {"line": string.lineno, "column": column, "endColumn": column, "text": "r"}


def _once(node: ast.expr, part: re.Pattern[str], text: str, code: str) -> Fix | None:
    """Replace what occurs once in the strings of an expression."""
    found: list[Fix] = []
    for string, source in _strings(node, code):
        span = span_of(string, code)
        start = span.column or 1
        if span.end_line != span.line:
            return None
        found += (
            {"line": span.line, "column": start + one.start(), "endColumn": start + one.end(), "text": text}
            for one in part.finditer(source)
        )
    return found[0] if len(found) == 1 else None


def _strings(node: ast.AST, code: str) -> Iterator[tuple[ast.Constant | ast.JoinedStr, str]]:
    """Go through the strings in an expression, with what is written for each."""
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and is_text):
        yield node, ast.get_source_segment(code, node) or ""
        return
    for part in ast.iter_child_nodes(node):
        yield from _strings(part, code)
