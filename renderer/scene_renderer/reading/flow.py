"""Reads statements in the order in which they run, and what is known after each."""

import ast
import builtins
import sys
from collections.abc import Iterable

from manim import Scene

from . import imports, operators, pure, rules
from .expressions import bind, guarded, value_of
from .own import OPAQUE, class_of, first_parameter, function_of
from .reading import Body, Reading
from .scopes import Definition, Scope, arguments_of, bound_in, scope_of
from .values import UNKNOWN, Dictionary, Function, Sequence, Value, exactly, instance, is_known, joined

_UNROLLED_MAX = 12
# More are not spent on going through loops part by part.
_STEPS_FOR_LOOPS = 15_000


def read(reading: Reading, statements: Iterable[ast.stmt]) -> None:
    """Read statements."""
    for statement in statements:
        if reading.is_dead:
            _define_only(reading, statement)
            continue
        reading.step()
        _READERS.get(type(statement), _other)(reading, statement)


def _define_only(reading: Reading, statement: ast.stmt) -> None:
    """Note what unreachable code binds; it is not read."""


def _other(reading: Reading, node: ast.stmt) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            value_of(reading, child)


def _expression(reading: Reading, node: ast.Expr) -> None:
    value_of(reading, node.value)
    if _ends_the_program(reading, node.value):
        reading.is_dead = True


def _ends_the_program(reading: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = reading.values.get(node.func, UNKNOWN)
    return called.is_it and called.thing in (sys.exit, builtins.__dict__.get("exit"), builtins.__dict__.get("quit"))


def _assign(reading: Reading, node: ast.Assign) -> None:
    value = value_of(reading, node.value)
    for target in node.targets:
        bind(reading, target, value)


def _annotated(reading: Reading, node: ast.AnnAssign) -> None:
    if reading.scope.kind != "function":
        value_of(reading, node.annotation)
    if node.value is not None:
        bind(reading, node.target, value_of(reading, node.value))


def _augmented(reading: Reading, node: ast.AugAssign) -> None:
    target = node.target
    right = value_of(reading, node.value)
    if isinstance(target, ast.Name):
        loaded = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        left = value_of(reading, loaded)
        if isinstance(left, Sequence | Dictionary):
            left.change()
            return
        found = operators.binary(reading, node, left, right)
        reading.scope.bind(target.id, found)
    elif isinstance(target, ast.Attribute):
        value_of(reading, target.value)
        reading.note_attribute(target.attr, UNKNOWN)
    else:
        owner = value_of(reading, target.value)
        value_of(reading, target.slice)
        if isinstance(owner, Sequence | Dictionary):
            owner.change()


def _delete(reading: Reading, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            reading.scope.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            owner = value_of(reading, target.value)
            if isinstance(owner, Sequence | Dictionary):
                owner.change()


def _return(reading: Reading, node: ast.Return) -> None:
    reading.returned.append(exactly(None) if node.value is None else value_of(reading, node.value))
    reading.is_dead = True


def _raise(reading: Reading, node: ast.Raise) -> None:
    for part in (node.exc, node.cause):
        if part is not None:
            value_of(reading, part)
    rules.on_raise(reading, node)
    reading.is_dead = True


def _leave(reading: Reading, _: ast.stmt) -> None:
    reading.is_dead = True


def _if(reading: Reading, node: ast.If) -> None:
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
            read(reading, body)
        else:
            with guarded(reading, test):
                read(reading, body)
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


def _loop(reading: Reading, body: list[ast.stmt], orelse: list[ast.stmt], target: ast.expr | None, part: Value) -> None:
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
        read(reading, body)
    reading.scope.names, reading.is_dead = start, False
    if target is not None:
        bind(reading, target, part)
    read(reading, body)
    reading.conditional -= 1
    ends = [before] if reading.is_dead else [before, reading.scope.names]
    # A `break` or `continue` may leave before the last statements.
    merged = _merged(ends)
    if any(isinstance(inner, ast.Break | ast.Continue | ast.Return) for one in body for inner in ast.walk(one)):
        for name in changed:
            merged[name] = UNKNOWN
    reading.scope.names, reading.is_dead = merged, False
    read(reading, orelse)


def _unroll(reading: Reading, node: ast.For | ast.AsyncFor, parts: list[Value]) -> None:
    """Read the body of a loop once for each part."""
    for part in parts:
        bind(reading, node.target, part)
        read(reading, node.body)
        if reading.is_dead:
            return
    read(reading, node.orelse)


def _may_leave(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(inner, ast.Break | ast.Continue | ast.Return) for one in body for inner in ast.walk(one)
    )


def _for(reading: Reading, node: ast.For | ast.AsyncFor) -> None:
    whole = value_of(reading, node.iter)
    parts = operators.all_parts(whole)
    if parts is not None and len(parts) <= _UNROLLED_MAX and not _may_leave(node.body):
        if reading.steps < _STEPS_FOR_LOOPS and not reading.report.silent:
            return _unroll(reading, node, parts)
    part = operators.parts_of(reading, node.iter, whole)
    if isinstance(whole, Sequence) and not whole.is_open and not whole.parts:
        return None  # its body is never run
    return _loop(reading, node.body, node.orelse, node.target, part)


def _while(reading: Reading, node: ast.While) -> None:
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


def _with(reading: Reading, node: ast.With | ast.AsyncWith) -> None:
    may_catch = False
    for item in node.items:
        found = value_of(reading, item.context_expr)
        called = item.context_expr.func if isinstance(item.context_expr, ast.Call) else item.context_expr
        may_catch |= not _is_harmless(reading.values.get(called, UNKNOWN))
        if item.optional_vars is not None:
            bind(reading, item.optional_vars, UNKNOWN)
        del found
    if not may_catch:
        read(reading, node.body)
        return
    before = dict(reading.scope.names)
    reading.report.caught.append(None)
    read(reading, node.body)
    reading.report.caught.pop()
    if reading.is_dead:
        reading.scope.names, reading.is_dead = before, False
    for name in bound_in(node.body):
        reading.scope.names[name] = UNKNOWN


def _is_harmless(called: Value) -> bool:
    """Whether a context lets errors through."""
    import manim

    thing = called.thing
    if not is_known(called) or not called.is_it:
        return False
    return thing in (open, manim.register_font, manim.tempconfig)


def _try(reading: Reading, node: ast.Try) -> None:
    caught = _caught_by(reading, node.handlers)
    before = dict(reading.scope.names)
    is_caught = bool(node.handlers)
    reading.conditional += 1
    if is_caught:
        reading.report.caught.append(caught)
    read(reading, node.body)
    if is_caught:
        reading.report.caught.pop()
    reading.conditional -= 1
    if not reading.is_dead:
        read(reading, node.orelse)
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
        read(reading, handler.body)
        if not reading.is_dead:
            ends.append(reading.scope.names)
    reading.is_dead = not ends
    reading.scope.names = _merged(ends) if ends else {**before, **dict.fromkeys(changed, UNKNOWN)}
    if node.finalbody:
        was_dead, reading.is_dead = reading.is_dead, False
        read(reading, node.finalbody)
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


def _match(reading: Reading, node: ast.Match) -> None:
    value_of(reading, node.subject)
    before = dict(reading.scope.names)
    ends = [before]
    for case in node.cases:
        reading.scope.names = {**before, **dict.fromkeys(bound_in([ast.Match(node.subject, [case])]), UNKNOWN)}
        reading.is_dead = False
        with guarded(reading, node.subject):
            read(reading, case.body)
        if not reading.is_dead:
            ends.append(reading.scope.names)
    reading.is_dead = False
    reading.scope.names = _merged(ends)
    for name in bound_in([node]):
        reading.scope.names[name] = UNKNOWN


def _define(reading: Reading, node: Definition) -> None:
    for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
        if part is not None:
            value_of(reading, part)
    scope = reading.scope
    owner = scope.owner if scope.kind == "class" else None
    is_static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
    made: Value = UNKNOWN
    if not node.decorator_list:
        path = f"{owner.__name__}." if owner is not None else ""
        function = Function(function_of(node, f"{path}{node.name}"), node=node, scope=scope)
        reading.functions[function.thing] = function
        made = function
    reading.later.append(Body(node, scope, owner, is_static, [*reading.report.caught]))
    scope.bind(node.name, made)


def _class(reading: Reading, node: ast.ClassDef) -> None:
    bases = [value_of(reading, base) for base in node.bases]
    for keyword in node.keywords:
        value_of(reading, keyword.value)
    for decorator in node.decorator_list:
        value_of(reading, decorator)
    kind: type | None = None
    things = [base.thing for base in bases if base.is_it and isinstance(base.thing, type)]
    if len(things) == len(bases) and not node.keywords:
        kind = class_of(node, things)
    scope = scope_of("class", reading.scope, node.body)
    scope.owner = kind
    if kind is not None:
        reading.classes[kind] = node
        for name, part in vars(kind).items():
            function = part.__func__ if isinstance(part, staticmethod | classmethod) else part
            found = next((one for one in node.body if isinstance(one, Definition) and one.name == name), None)
            if found is not None and hasattr(function, "__code__"):
                reading.functions[function] = Function(function, node=found, scope=scope)
                reading.owners[function] = kind
    with reading.inside(scope):
        read(reading, node.body)
        scope.is_finished = True
    for name, value in scope.seen.items():
        if not isinstance(value, Function):
            reading.note_attribute(name, value)
            reading.free.add(name)
    is_known_class = kind is not None and not node.decorator_list
    reading.scope.bind(node.name, exactly(kind) if is_known_class else UNKNOWN)


def body(reading: Reading, one: Body) -> list[Value]:
    """Read the statements of a function; return what it may return."""
    node = one.node
    statements = [ast.copy_location(ast.Return(node.body), node)] if isinstance(node, ast.Lambda) else node.body
    scope = scope_of("function", one.parent, statements, node.args)
    for argument in arguments_of(node.args):
        scope.names[argument.arg] = scope.seen[argument.arg] = UNKNOWN
    if node.args.vararg:
        scope.bind(node.args.vararg.arg, UNKNOWN)
    if one.owner is not None and not one.is_static and not isinstance(node, ast.Lambda):
        scope.owner = one.owner
        _bind_self(scope, one.owner, node)
    if node in reading.parameters and node.args.args and not node.args.vararg:
        first = node.args.args[0].arg
        scope.names[first] = scope.seen[first] = reading.parameters[node]
    caught, conditional = reading.report.caught, reading.conditional
    reading.report.caught = [*one.caught]
    reading.conditional = 0 if _is_entrance(one) else 1
    try:
        with reading.inside(scope):
            read(reading, statements)
            scope.is_finished = True
            returned = reading.returned if reading.is_dead else [*reading.returned, exactly(None)]
            _read_later(reading, scope)
    finally:
        reading.report.caught, reading.conditional = caught, conditional
    is_generator = any(isinstance(inner, ast.Yield | ast.YieldFrom | ast.Await) for inner in _own_nodes(statements))
    return [UNKNOWN] if is_generator or isinstance(node, ast.AsyncFunctionDef) else returned


def _is_entrance(one: Body) -> bool:
    """Whether a function is called whenever the scene is rendered."""
    is_scene = one.owner is not None and issubclass(one.owner, Scene)
    return is_scene and getattr(one.node, "name", "") in ("construct", "setup")


def _own_nodes(statements: list[ast.stmt]) -> Iterable[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _bind_self(scope: Scope, owner: type, node: Definition) -> None:
    name = first_parameter(node)
    kinds = [one.id for one in node.decorator_list if isinstance(one, ast.Name)]
    if name is None or (node.decorator_list and kinds != ["property"]):
        return
    itself = instance(owner, is_loose=True)
    if scope.bound[name] == 1:
        scope.names[name] = scope.seen[name] = itself


def _read_later(reading: Reading, scope: Scope) -> None:
    """Read the functions that are defined in a scope, now that all its names are known."""
    inner = [one for one in reading.later if one.parent is scope or _is_within(one.parent, scope)]
    reading.later = [one for one in reading.later if one not in inner]
    for one in inner:
        body(reading, one)


def _is_within(scope: Scope | None, other: Scope) -> bool:
    while scope is not None:
        if scope is other:
            return True
        scope = scope.parent
    return False


def result_of(reading: Reading, function: Function, _: type | None) -> Value:
    """Return what a function of the author returns, whatever its arguments."""
    node = function.node
    if node is None or isinstance(function.scope, Scope) is False:
        return UNKNOWN
    if node in reading.results:
        return reading.results[node]
    if isinstance(node, Definition) and node.decorator_list:
        return UNKNOWN
    reading.results[node] = UNKNOWN  # if it calls itself
    later, reading.later = reading.later, []
    with reading.report.silenced():
        owner = reading.owners.get(function.thing)
        found = joined(body(reading, Body(node, function.scope, owner)))
    reading.later = later
    if isinstance(found, Sequence | Dictionary):
        found.change()
    reading.results[node] = found
    return found


_READERS = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _class,
    ast.Import: imports.plain,
    ast.ImportFrom: imports.names,
}
_ = OPAQUE
