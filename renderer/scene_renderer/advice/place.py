"""Finds where in the author's file an error was raised, and what is called there."""

import ast
import inspect
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType, TracebackType

_UNKNOWN = object()


@dataclass(frozen=True)
class Span:
    """A part of the author's file. Lines and columns count from 1, columns in characters."""

    line: int
    column: int | None = None
    end_line: int | None = None
    # The column after the last character.
    end_column: int | None = None


@dataclass(frozen=True)
class Place:
    """The innermost line of the author's file that was running when an error was raised."""

    span: Span
    # The expression of that line that failed, if it is known.
    node: ast.expr | None
    frame: FrameType | None


def place_of(error: BaseException, path: str, code: str) -> Place | None:
    """Return the place of an error raised by the source `code`, run as the file `path`."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return Place(_span_of_syntax_error(error), None, None) if error.lineno else None
    found: TracebackType | None = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    line, end_line, start, end = _positions(found)
    if line is None or end_line is None or start is None or end is None:
        return Place(Span(found.tb_lineno), None, found.tb_frame)
    node = _node_at(code, (line, start, end_line, end))
    return Place(_span(code, line, start, end_line, end), node, found.tb_frame)


def span_of(node: ast.expr | ast.keyword, code: str) -> Span:
    """Return where an expression or argument is."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset
    return _span(code, node.lineno, node.col_offset, end_line, node.col_offset if end is None else end)


def keyword_of(node: ast.expr | None, name: str) -> ast.keyword | None:
    """Return the keyword argument of a call by its name."""
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return next((keyword for keyword in keywords if keyword.arg == name), None)


def callee_of(node: ast.expr | None, frame: FrameType | None) -> object | None:
    """Return what a call calls, as far as that can be told without running code; None: it can't."""
    if not isinstance(node, ast.Call) or frame is None:
        return None
    value = _value_of(node.func, frame)
    return None if value is _UNKNOWN else value


def value_of(node: ast.expr | None, frame: FrameType | None) -> object | None:
    """Return the value of a name, or of an attribute of a module, class or object; None: not known."""
    if node is None or frame is None:
        return None
    value = _value_of(node, frame)
    return None if value is _UNKNOWN else value


def _value_of(node: ast.expr, frame: FrameType) -> object:
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        owner = _value_of(node.value, frame)
        if isinstance(owner, ModuleType):
            return vars(owner).get(node.attr, _UNKNOWN)
        if owner is not _UNKNOWN:
            # Without calling `__getattr__` or a property.
            return inspect.getattr_static(owner, node.attr, _UNKNOWN)
    return _UNKNOWN


def _positions(trace: TracebackType) -> tuple[int | None, int | None, int | None, int | None]:
    index = trace.tb_lasti // 2
    found = itertools.islice(trace.tb_frame.f_code.co_positions(), index, index + 1)
    return next(found, (None, None, None, None))


def _node_at(code: str, place: tuple[int, int, int, int]) -> ast.expr | None:
    """Return the expression at a place, in bytes; calls in a chain over several lines begin later there."""
    try:
        nodes = list(_expressions(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    end = place[2:]
    same_end = [node for node in nodes if (node.end_lineno, node.end_col_offset) == end]
    exact = (node for node in same_end if (node.lineno, node.col_offset) == place[:2])
    chained = (node for node in same_end if isinstance(node, ast.Call | ast.Attribute))
    return next(exact, None) or next(chained, None)


def _expressions(tree: ast.AST) -> Iterator[ast.expr]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.expr))


def _span(code: str, line: int, start: int, end_line: int, end: int) -> Span:
    lines = code.split("\n")
    return Span(line, _column(lines, line, start), end_line, _column(lines, end_line, end))


def _column(lines: list[str], line: int, offset: int) -> int | None:
    """Convert an offset in UTF-8 to a column."""
    if not 1 <= line <= len(lines):
        return None
    return len(lines[line - 1].encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1


def _span_of_syntax_error(error: SyntaxError) -> Span:
    line = error.lineno or 1
    column = error.offset if error.offset and error.offset > 0 else None
    end_line = error.end_lineno or None
    end_column = error.end_offset if error.end_offset and error.end_offset > 0 else None
    return Span(line, column, end_line, end_column)
