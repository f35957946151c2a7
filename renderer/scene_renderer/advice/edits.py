"""Replacements that are more than another name."""

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FunctionType, MethodType

import manim

from ..messages import Fix
from . import signatures
from .place import Frame, Place, Span, callee_of, span_of, value_of, whole_line

_IMPORTED = re.compile(r"import \w+(?: as \w+)?|from \w+ import \w+")
_OF_MANIM = "from manim "
_TEXT_CHARACTERS_MAX = 200


def imported(statement: str, span: Span, code: str) -> Fix | None:
    """Return the import that a name needs, below those of the code.

    None: the name may be of something else, such as a `time` that is no module.
    """
    line, tree = whole_line(code, span.line), _parsed(code)
    if line is None or tree is None or span.end_column is None or not _IMPORTED.fullmatch(statement):
        return None
    if not statement.startswith(_OF_MANIM) and line[span.end_column - 1 : span.end_column] not in (".", "("):
        return None
    head = itertools.takewhile(_is_of_head, tree.body)
    after = max((node.end_lineno or node.lineno for node in head), default=0)
    if whole_line(code, after + 1) is None:
        return None
    return {"line": after + 1, "column": 1, "endColumn": 1, "text": f"{statement}\n"}


def derived(base: str, line: int, code: str) -> Fix | None:
    """Return the base that the class around a line needs; None if its own is none that it replaces."""
    tree, wanted = _parsed(code), vars(manim).get(base)
    classes = tree.body if tree else []
    for node in classes:
        if not isinstance(node, ast.ClassDef) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        own = node.bases[0] if len(node.bases) == 1 else None
        known = vars(manim).get(own.id) if isinstance(own, ast.Name) else None
        is_less = isinstance(known, type) and isinstance(wanted, type) and issubclass(wanted, known)
        if own is not None and is_less and known is not wanted:
            return _instead(own, base, code)
    return None


def without_star(place: Place | None, code: str) -> Fix | None:
    """Return the argument of a call that takes one, without the star before it."""
    node, frame = (place.node, place.frame) if place else (None, None)
    called = callee_of(node, frame)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or called is None:
        return None
    given = node.args[0]
    if not isinstance(given, ast.Starred) or len(signatures.names_of(called, 2)) != 1:
        return None
    return _instead(given, ast.get_source_segment(code, given.value), code)


def called(place: Place | None, code: str) -> Fix | None:
    """Return the call of an operand that is a method without further arguments."""
    node, frame = (place.node, place.frame) if place else (None, None)
    for side in (node.left, node.right) if isinstance(node, ast.BinOp) else ():
        method = value_of(side, frame) if isinstance(side, ast.Attribute) else None
        if isinstance(method, FunctionType | MethodType) and not _required(method):
            return _after(side, "()", code)
    return None


def _required(method: Callable[..., object]) -> list[str]:
    parameters = inspect.signature(method).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return [one.name for one in needed if one.name != "self"]


def animated(message: str, place: Place | None, code: str) -> Fix | None:
    """Return what makes an animation of the argument of `play` that is none, where only one can be meant."""
    node, frame = (place.node, place.frame) if place else (None, None)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "play":
        return None
    return next(_animations(node, message, frame, code), None)


def _animations(node: ast.Call, message: str, frame: Frame | None, code: str) -> Iterator[Fix | None]:
    for index, argument in enumerate(node.args):
        value = value_of(argument, frame)
        if isinstance(argument, ast.List | ast.Tuple) or isinstance(value, list | tuple):
            yield _before(argument, "*", code)
        root, methods = _chain(argument)
        owner = value_of(root, frame)
        if not isinstance(owner, manim.Mobject) or not methods or methods[0].startswith(("get_", "animate")):
            continue
        if isinstance(argument, ast.Attribute) and len(methods) == 1:
            yield _of_method(node, index, frame, code)
        elif isinstance(argument, ast.Call) and re.search(rf"\b{type(owner).__name__}\b", message):
            yield _after(root, ".animate", code)


def _of_method(node: ast.Call, index: int, frame: Frame | None, code: str) -> Fix | None:
    """Return the animation of a method that is not called, but followed by its arguments."""
    method, given = node.args[index], node.args[index + 1 :]
    if not isinstance(method, ast.Attribute) or any(_may_be_animation(one, frame) for one in given):
        return None
    parts = [ast.get_source_segment(code, one) or "" for one in (method.value, *given)]
    text = f"{parts[0]}.animate.{method.attr}({', '.join(parts[1:])})"
    whole = ast.copy_location(ast.Name("", ast.Load()), method)
    last = node.args[-1]
    whole.end_lineno, whole.end_col_offset = last.end_lineno, last.end_col_offset
    return _instead(whole, text, code)


def _may_be_animation(node: ast.expr, frame: Frame | None) -> bool:
    made = callee_of(node, frame)
    is_made = isinstance(made, type) and issubclass(made, manim.Animation)
    names = [part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    is_method = isinstance(node, ast.Attribute) and callable(value_of(node, frame))
    return is_made or is_method or "animate" in names or isinstance(node, ast.Starred)


def _chain(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return what the methods of an expression are called on, and their names."""
    methods: list[str] = []
    if isinstance(node, ast.Attribute):
        return node.value, [node.attr]
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        methods.insert(0, node.func.attr)
        node = node.func.value
    return node, methods


def _is_of_head(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


@lru_cache(maxsize=1)
def _parsed(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _before(node: ast.expr, text: str, code: str) -> Fix | None:
    span = span_of(node, code)
    return None if span.column is None else _fix(span.line, span.column, span.column, text)


def _after(node: ast.expr, text: str, code: str) -> Fix | None:
    span = span_of(node, code)
    if span.end_line is None or span.end_column is None:
        return None
    return _fix(span.end_line, span.end_column, span.end_column, text)


def _instead(node: ast.expr, text: str | None, code: str) -> Fix | None:
    span = span_of(node, code)
    if span.column is None or span.end_column is None or span.end_line != span.line or not text:
        return None
    return _fix(span.line, span.column, span.end_column, text)


def _fix(line: int, column: int, end_column: int, text: str) -> Fix | None:
    if "\n" in text or len(text) > _TEXT_CHARACTERS_MAX:
        return None
    return {"line": line, "column": column, "endColumn": end_column, "text": text}
