"""The code around an expression, and how calls are written otherwise."""

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from ..messages import Fix
from .edits import fix, instead, parsed
from .place import span_of, whole_line


def written(node: ast.expr | ast.keyword | ast.stmt, code: str) -> str:
    """Return what is written for a part of the code."""
    return ast.get_source_segment(code, node) or ""


def around(node: ast.AST, code: str) -> list[ast.AST]:
    """Return what an expression or statement of the code is in, the innermost first."""
    parents = _parents(code)
    place = _place(node)
    same = (one for one in parents if _place(one) == place and type(one) is type(node))
    one: ast.AST | None = next(same, None)
    found = []
    while one is not None and (one := parents.get(one)) is not None:
        found.append(one)
    return found


def statement_of(node: ast.AST, code: str) -> ast.stmt | None:
    """Return the statement that an expression is in."""
    return next((one for one in around(node, code) if isinstance(one, ast.stmt)), None)


def is_statement(node: ast.AST, code: str) -> bool:
    """Whether an expression is a statement, such as a call whose result is not used."""
    return isinstance(next(iter(around(node, code)), None), ast.Expr)


def _place(node: ast.AST) -> tuple[object, ...]:
    names = ("lineno", "col_offset", "end_lineno", "end_col_offset")
    return tuple(getattr(node, name, None) for name in names)


@lru_cache(maxsize=1)
def _parents(code: str) -> dict[ast.AST, ast.AST | None]:
    tree = parsed(code)
    found: dict[ast.AST, ast.AST | None] = {}
    for node in ast.walk(tree) if tree else ():
        for part in ast.iter_child_nodes(node):
            found[part] = node
    return found


def method_of(node: ast.expr | None) -> str | None:
    """Return the name of the method that a call calls."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None


def arguments(call: ast.Call, code: str, without: Iterable[str] = ()) -> list[str]:
    """Return what is written for the arguments of a call, without some of its keywords."""
    left_out = {*without}
    kept = [keyword for keyword in call.keywords if keyword.arg not in left_out]
    parts: list[ast.expr | ast.keyword] = [*call.args, *kept]
    return [written(one, code) for one in parts]


def called_with(call: ast.Call, code: str, given: Iterable[str], behind: str = "") -> Fix | None:
    """Return a call in one line with other arguments, and with what is written behind it."""
    return instead(call, f"{written(call.func, code)}({', '.join(given)}){behind}", code)


def between(first: ast.expr | ast.keyword, last: ast.expr | ast.keyword, text: str, code: str) -> Fix | None:
    """Return what is written instead of the code from the start of one part to the end of another."""
    start, end = span_of(first, code), span_of(last, code)
    if start.column is None or end.end_column is None or start.line != end.end_line:
        return None
    return fix(start.line, start.column, end.end_column, text)


def without_keyword(keyword: ast.keyword, code: str) -> Fix | None:
    """Return the removal of a keyword argument, with its comma, from its line."""
    span = span_of(keyword, code)
    line = whole_line(code, span.line) or ""
    if span.column is None or span.end_column is None or span.end_line != span.line:
        return None
    before, behind = line[: span.column - 1], line[span.end_column - 1 :]
    start, end = span.column, span.end_column
    if (comma := re.match(r"\s*,[ \t]*", behind)) is not None:
        end += comma.end()
    elif (comma := re.search(r",\s*$", before)) is not None:
        start = comma.start() + 1
    # A replacement is not empty: the character before it stays.
    return fix(span.line, start - 1, end, line[start - 2]) if start > 1 else None
