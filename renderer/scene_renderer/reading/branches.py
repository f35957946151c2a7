"""Reads statements of which it is not known whether, or how often, they run."""

import ast
import builtins

import manim

from . import operators, pure
from .expressions import bind, value_of
from .guards import guarded
from .reading import Reading
from .scopes import bound_in
from .values import UNKNOWN, Sequence, Value, is_known, joined

_UNROLLED_MAX = 12
# More are not spent on going through loops part by part.
_STEPS_FOR_LOOPS = 15_000


def if_statement(reading: Reading, node: ast.If) -> None:
    """Read an `if`."""
    is_true = pure.truth(value_of(reading, node.test))
    branches = []
    for body, is_taken in ((node.body, is_true is not False), (node.orelse, is_true is not True)):
        if not is_taken:
            continue
        branches.append(body)
    _branch(reading, branches, node.test)


def _branch(reading: Reading, branches: list[list[ast.stmt]], test: ast.expr | None) -> None:
    """Read statements of which one is run."""
    before = dict(reading.scope.names)
    ends: list[dict[str, Value]] = []
    is_decided = test is not None and pure.truth(reading.values.get(test, UNKNOWN)) is not None
    reading.conditional += not is_decided
    for body in branches:
        reading.scope.names = dict(before)
        reading.is_dead = False
        if test is None:
            reading.read(reading, body)
        else:
            with guarded(reading, test):
                reading.read(reading, body)
        if not reading.is_dead:
            ends.append(reading.scope.names)
    reading.conditional -= not is_decided
    reading.is_dead = not ends
    reading.scope.names = _merged(ends) if ends else before


def _merged(ends: list[dict[str, Value]]) -> dict[str, Value]:
    if len(ends) == 1:
        return ends[0]
    names = dict.fromkeys(name for end in ends for name in end)
    return {name: joined(end[name] for end in ends if name in end) for name in names}


def _loop(
    reading: Reading, body: list[ast.stmt], orelse: list[ast.stmt], target: ast.expr | None, part: Value
) -> None:
    """Read the body of a loop, which may have run before, or not at all."""
    names = reading.scope.names
    changed = bound_in(body)
    before = dict(names)
    reading.conditional += 1
    for name in changed:
        if name in reading.scope.bound or name in names:
            names[name] = UNKNOWN
    with reading.report.silenced():  # what it changes is changed when it runs again
        start = dict(names)
        if target is not None:
            bind(reading, target, part)
        reading.read(reading, body)
    reading.scope.names, reading.is_dead = start, False
    if target is not None:
        bind(reading, target, part)
    reading.read(reading, body)
    reading.conditional -= 1
    ends = [before] if reading.is_dead else [before, reading.scope.names]
    # A `break` or `continue` may leave before the last statements.
    merged = _merged(ends)
    if any(
        isinstance(inner, ast.Break | ast.Continue | ast.Return) for one in body for inner in ast.walk(one)
    ):
        for name in changed:
            merged[name] = UNKNOWN
    reading.scope.names, reading.is_dead = merged, False
    if not any(isinstance(inner, ast.Break) for one in body for inner in ast.walk(one)):
        return reading.read(reading, orelse)
    with reading.report.silenced():  # a `break` may always leave the loop before
        reading.read(reading, orelse)
    reading.is_dead = False
    return None


def _unroll(reading: Reading, node: ast.For | ast.AsyncFor, parts: list[Value]) -> None:
    """Read the body of a loop once for each part."""
    for part in parts:
        bind(reading, node.target, part)
        reading.read(reading, node.body)
        if reading.is_dead:
            return
    reading.read(reading, node.orelse)


def _may_leave(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(inner, ast.Break | ast.Continue | ast.Return) for one in body for inner in ast.walk(one)
    )


def for_statement(reading: Reading, node: ast.For | ast.AsyncFor) -> None:
    """Read a `for`."""
    whole = value_of(reading, node.iter)
    parts = operators.all_parts(whole)
    has_time = reading.steps < _STEPS_FOR_LOOPS and not reading.report.silent
    if has_time and parts is not None and len(parts) <= _UNROLLED_MAX and not _may_leave(node.body):
        return _unroll(reading, node, parts)
    part = operators.parts_of(reading, node.iter, whole)
    if isinstance(whole, Sequence) and not whole.is_open and not whole.parts:
        return None  # its body is never run
    return _loop(reading, node.body, node.orelse, node.target, part)


def while_statement(reading: Reading, node: ast.While) -> None:
    """Read a `while`."""
    changed = bound_in(node.body)
    for name in changed:
        if name in reading.scope.names:
            reading.scope.names[name] = UNKNOWN
    if pure.truth(value_of(reading, node.test)) is False:
        return
    with guarded(reading, node.test):
        _loop(reading, node.body, node.orelse, None, UNKNOWN)
    is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
    if is_endless and not any(isinstance(inner, ast.Break) for one in node.body for inner in ast.walk(one)):
        reading.is_dead = True


def with_statement(reading: Reading, node: ast.With | ast.AsyncWith) -> None:
    """Read a `with`."""
    may_catch = False
    for item in node.items:
        found = value_of(reading, item.context_expr)
        called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
        may_catch |= not _is_harmless(reading.values.get(called, UNKNOWN))
        if item.optional_vars is not None:
            bind(reading, item.optional_vars, UNKNOWN)
        del found
    if not may_catch:
        reading.read(reading, node.body)
        return
    before = dict(reading.scope.names)
    reading.report.caught.append(None)
    reading.read(reading, node.body)
    reading.report.caught.pop()
    if reading.is_dead:
        reading.scope.names, reading.is_dead = before, False
    for name in bound_in(node.body):
        reading.scope.names[name] = UNKNOWN


def _is_harmless(called: Value) -> bool:
    """Whether a context lets errors through."""
    thing = called.thing
    if not is_known(called) or not called.is_it:
        return False
    return thing in (open, manim.register_font, manim.tempconfig)


def try_statement(reading: Reading, node: ast.Try) -> None:
    """Read a `try`."""
    caught = _caught_by(reading, node.handlers)
    before = dict(reading.scope.names)
    is_caught = bool(node.handlers)
    reading.conditional += 1
    if is_caught:
        reading.report.caught.append(caught)
    reading.read(reading, node.body)
    if is_caught:
        reading.report.caught.pop()
    reading.conditional -= 1
    if not reading.is_dead:
        reading.read(reading, node.orelse)
    ends = [] if reading.is_dead else [reading.scope.names]
    changed = bound_in(node.body)
    for handler in node.handlers:
        reading.scope.names = dict(before)
        reading.is_dead = False
        for name in changed:
            reading.scope.names[name] = UNKNOWN
        if handler.type is not None:
            value_of(reading, handler.type)
        if handler.name:
            reading.scope.bind(handler.name, UNKNOWN)
        reading.read(reading, handler.body)
        if not reading.is_dead:
            ends.append(reading.scope.names)
    reading.is_dead = not ends
    reading.scope.names = _merged(ends) if ends else {**before, **dict.fromkeys(changed, UNKNOWN)}
    if node.finalbody:
        was_dead, reading.is_dead = reading.is_dead, False
        reading.read(reading, node.finalbody)
        reading.is_dead |= was_dead


def _caught_by(reading: Reading, handlers: list[ast.ExceptHandler]) -> tuple[type[BaseException], ...] | None:
    found: list[type[BaseException]] = []
    for handler in handlers:
        if handler.type is None:
            return None
        parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        for part in parts:
            thing = builtins.__dict__.get(part.id) if isinstance(part, ast.Name) else None
            if not isinstance(thing, type) or not issubclass(thing, BaseException):
                return None
            found.append(thing)
    return tuple(found)


def match_statement(reading: Reading, node: ast.Match) -> None:
    """Read a `match`."""
    value_of(reading, node.subject)
    before = dict(reading.scope.names)
    ends = [before]
    for case in node.cases:
        reading.scope.names = {
            **before,
            **dict.fromkeys(bound_in([ast.Match(node.subject, [case])]), UNKNOWN),
        }
        reading.is_dead = False
        with guarded(reading, node.subject):
            reading.read(reading, case.body)
        if not reading.is_dead:
            ends.append(reading.scope.names)
    reading.is_dead = False
    reading.scope.names = _merged(ends)
    for name in bound_in([node]):
        reading.scope.names[name] = UNKNOWN
