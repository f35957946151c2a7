"""Replacements outside of what failed, and the parts of which replacements are made."""

import ast
import itertools
import re
from functools import lru_cache

import manim

from ..messages import Fix
from .place import Span, span_of, whole_line

_IMPORTED = re.compile(r"import \w+(?: as \w+)?|from \w+ import \w+")
_OF_MANIM = "from manim "
_TEXT_CHARACTERS_MAX = 200


def imported(statement: str, span: Span, code: str) -> Fix | None:
    """Return the import that a name needs, below those of the code.

    None: the name may be of something else, such as a `time` that is no module.
    """
    line, tree = whole_line(code, span.line), parsed(code)
    if line is None or tree is None or span.end_column is None or not _IMPORTED.fullmatch(statement):
        return None
    if not statement.startswith(_OF_MANIM) and line[span.end_column - 1 : span.end_column] not in (*".([",):
        return None
    head = itertools.takewhile(_is_of_head, tree.body)
    after = max((node.end_lineno or node.lineno for node in head), default=0)
    if whole_line(code, after + 1) is None:
        return None
    return {"line": after + 1, "column": 1, "endColumn": 1, "text": f"{statement}\n"}


def derived(base: str, line: int, code: str) -> Fix | None:
    """Return the base that the class around a line needs; None if its own is none that it replaces."""
    tree, wanted = parsed(code), vars(manim).get(base)
    classes = tree.body if tree else []
    for node in classes:
        if not isinstance(node, ast.ClassDef) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        own = node.bases[0] if len(node.bases) == 1 else None
        known = vars(manim).get(own.id) if isinstance(own, ast.Name) else None
        is_less = isinstance(known, type) and isinstance(wanted, type) and issubclass(wanted, known)
        if own is not None and is_less and known is not wanted:
            return instead(own, base, code)
    return None


def with_self(line: int, code: str) -> Fix | None:
    """Return the first parameter of a method that has none; None if nothing is known of it."""
    tree = parsed(code)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.lineno == line and ast.unparse(node.args) == "":
            text = whole_line(code, line) or ""
            column = text.find("(", node.col_offset) + 2
            return fix(line, column, column, "self") if column > 1 else None
    return None


def with_base(line: int, code: str) -> Fix | None:
    """Return the base `Scene` of a class that has none, and a method `construct`."""
    tree = parsed(code)
    for node in tree.body if tree else ():
        if isinstance(node, ast.ClassDef) and node.lineno == line and not node.bases and not node.keywords:
            methods = [part.name for part in node.body if isinstance(part, ast.FunctionDef)]
            match = re.match(rf"class\s+{node.name}\s*(?:\(\s*\))?", whole_line(code, line) or "")
            if match is not None and "construct" in methods:
                return fix(line, match.start() + 1, match.end() + 1, f"class {node.name}(Scene)")
    return None


def _is_of_head(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


@lru_cache(maxsize=1)
def parsed(code: str) -> ast.Module | None:
    """Return the tree of code; None if it is not valid."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def before(node: ast.expr, text: str, code: str) -> Fix | None:
    """Return an insertion before an expression."""
    span = span_of(node, code)
    return None if span.column is None else fix(span.line, span.column, span.column, text)


def after(node: ast.expr, text: str, code: str) -> Fix | None:
    """Return an insertion behind an expression."""
    span = span_of(node, code)
    if span.end_line is None or span.end_column is None:
        return None
    return fix(span.end_line, span.end_column, span.end_column, text)


def instead(node: ast.expr, text: str | None, code: str) -> Fix | None:
    """Return what is written instead of an expression in one line."""
    span = span_of(node, code)
    if span.column is None or span.end_column is None or span.end_line != span.line or not text:
        return None
    return fix(span.line, span.column, span.end_column, text)


def fix(line: int, column: int, end_column: int, text: str) -> Fix | None:
    """Return a replacement; None if it is too long, or has several lines."""
    if "\n" in text or len(text) > _TEXT_CHARACTERS_MAX:
        return None
    return {"line": line, "column": column, "endColumn": end_column, "text": text}
