"""Finds where in the author's file an error was raised, and what is called there."""

import ast
import inspect
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType, ModuleType, TracebackType
from typing import cast

import manim

from ..messages import Finding

_UNKNOWN = object()
_LINE_CHARACTERS_MAX = 200


@dataclass(frozen=True)
class Span:
    """A part of the author's file. Lines and columns count from 1, columns in characters."""

    line: int
    column: int | None = None
    end_line: int | None = None
    # The column after the last character.
    end_column: int | None = None


@dataclass(frozen=True)
class Names:
    """What stands for a frame where code was only read: names, and objects by the expressions they are of."""

    f_locals: Mapping[str, object]
    values: Mapping[ast.AST, object] = field(default_factory=dict)
    f_globals: Mapping[str, object] = field(default_factory=dict)
    f_builtins: Mapping[str, object] = field(default_factory=dict)


Frame = FrameType | Names


@dataclass(frozen=True)
class Place:
    """The innermost line of the author's file that was running when an error was raised."""

    span: Span
    # The expression of that line that failed, if it is known.
    node: ast.expr | None
    frame: Frame | None


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


def span_of(node: ast.expr | ast.keyword | ast.stmt, code: str, lines: Sequence[bytes] | None = None) -> Span:
    """Return where an expression, argument or statement is. `lines`: those of the code, if at hand."""
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset
    place = (node.lineno, node.col_offset, end_line, node.col_offset if end is None else end)
    return _span(code if lines is None else lines, *place)


def last_name(node: ast.Attribute, code: str) -> Span:
    """Return where the name of an attribute is."""
    name = ast.copy_location(ast.Name(node.attr, ast.Load()), node)
    end = node.end_col_offset or 0
    name.lineno, name.col_offset = node.end_lineno or node.lineno, max(0, end - len(node.attr.encode()))
    return span_of(name, code)


def locate(found: Finding, span: Span, code: str) -> None:
    """Say in a finding where it is."""
    found["line"], found["column"] = span.line, span.column
    found["endLine"], found["endColumn"] = span.end_line, span.end_column
    found["sourceLine"] = line_of(code, span.line)


def line_of(code: str, number: int) -> str | None:
    """Return a line of the code without its indentation, in short; None if there is none."""
    line = whole_line(code, number)
    return None if line is None else line.strip()[:_LINE_CHARACTERS_MAX]


def whole_line(code: str, number: int) -> str | None:
    """Return a line of the code; None if there is none."""
    lines = re.split(r"\r\n|\r|\n", code)
    return lines[number - 1] if 1 <= number <= len(lines) else None


def keyword_of(node: ast.expr | None, name: str) -> ast.keyword | None:
    """Return the keyword argument of a call by its name."""
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return next((keyword for keyword in keywords if keyword.arg == name), None)


def callee_of(node: ast.expr | None, frame: Frame | None) -> object | None:
    """Return what a call calls, as far as that can be told without running code; None: it can't."""
    if not isinstance(node, ast.Call) or frame is None:
        return None
    value = _value_of(node.func, frame)
    return None if value is _UNKNOWN else value


def value_of(node: ast.expr | None, frame: Frame | None) -> object | None:
    """Return the value of a name, or of an attribute of a module, class or object; None: not known."""
    if node is None or frame is None:
        return None
    value = _value_of(node, frame)
    return None if value is _UNKNOWN else value


def _value_of(node: ast.expr, frame: Frame) -> object:
    if isinstance(frame, Names) and node in frame.values:
        return frame.values[node]
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in names:
                return names[node.id]
    elif isinstance(node, ast.Attribute):
        owner = _value_of(node.value, frame)
        if isinstance(owner, ModuleType):
            return vars(owner).get(node.attr, _UNKNOWN)
        if isinstance(owner, manim.Mobject) and node.attr == "animate":
            return owner  # What it returns has the methods of the mobject.
        if owner is not _UNKNOWN:
            # Without calling `__getattr__` or a property.
            found = inspect.getattr_static(owner, node.attr, _UNKNOWN)
            return _UNKNOWN if isinstance(found, property) else found
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        parts, index = _value_of(node.value, frame), node.slice.value
        if isinstance(parts, manim.Mobject):
            parts = vars(parts).get("submobjects")
        # Without calling a `__getitem__` of the scene's.
        if type(parts) in (list, tuple) and isinstance(index, int):
            known = cast(Sequence[object], parts)
            return known[index] if -len(known) <= index < len(known) else _UNKNOWN
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


def _span(code: str | Sequence[bytes], line: int, start: int, end_line: int, end: int) -> Span:
    lines = (
        [text.encode("utf-8", "surrogatepass") for text in code.split("\n")]
        if isinstance(code, str)
        else code
    )
    return Span(line, _column(lines, line, start), end_line, _column(lines, end_line, end))


def _column(lines: Sequence[bytes], line: int, offset: int) -> int | None:
    """Convert an offset in UTF-8 to a column."""
    if not 1 <= line <= len(lines):
        return None
    return len(lines[line - 1][:offset].decode("utf-8", "ignore")) + 1


def _span_of_syntax_error(error: SyntaxError) -> Span:
    line = error.lineno or 1
    column = error.offset if error.offset and error.offset > 0 else None
    end_line = error.end_lineno or None
    end_column = error.end_offset if error.end_offset and error.end_offset > 0 else None
    return Span(line, column, end_line, end_column)
