"""Reads statements in the order in which they run, and what is known after each."""

import ast
import builtins
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from manim import Scene

from . import branches, imports, operators, rules
from .expressions import bind, value_of
from .installed import INSTALLED
from .own import class_of, first_parameter, function_of
from .reading import Body, Reading
from .scopes import Definition, Scope, arguments_of, scope_of
from .values import UNKNOWN, Dictionary, Function, Sequence, Value, exactly, instance, joined


def read(reading: Reading, statements: Iterable[ast.stmt]) -> None:
    """Read statements."""
    for statement in statements:
        if reading.is_dead:
            return
        reading.step()
        _READERS.get(type(statement), _other)(reading, statement)


def _other(reading: Reading, node: ast.stmt) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            value_of(reading, child)


def _expression(reading: Reading, node: ast.Expr) -> None:
    value_of(reading, node.value)
    if _ends_the_program(reading, node.value):
        if not reading.conditional:
            rules.report_exit(reading, node.value)
        reading.is_dead = True


def _ends_the_program(reading: Reading, node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = reading.values.get(node.func, UNKNOWN)
    return called.is_it and called.thing in (
        sys.exit,
        builtins.__dict__.get("exit"),
        builtins.__dict__.get("quit"),
    )


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
    for base, value in zip(node.bases, bases, strict=True):
        if value.is_it and isinstance(value.thing, ModuleType):
            reading.error(TypeError("module() takes at most 2 arguments (3 given)"), base)
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
            if found is not None and isinstance(function, FunctionType):
                reading.functions[function] = Function(function, node=found, scope=scope)
                reading.owners[function] = kind
                if isinstance(found, ast.FunctionDef):
                    INSTALLED.note(function, found)
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
    statements: list[ast.stmt] = []
    if isinstance(node, ast.Lambda):
        statements.append(ast.copy_location(ast.Return(node.body), node))
    else:
        statements = node.body
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
    if one.node not in reading.generators:
        yields = ast.Yield | ast.YieldFrom | ast.Await
        is_generator = any(isinstance(inner, yields) for part in statements for inner in ast.walk(part))
        reading.generators[one.node] = is_generator or isinstance(node, ast.AsyncFunctionDef)
    return [UNKNOWN] if reading.generators[one.node] else returned


def _is_entrance(one: Body) -> bool:
    """Whether a function is called whenever the scene is rendered."""
    is_scene = one.owner is not None and issubclass(one.owner, Scene)
    return is_scene and getattr(one.node, "name", "") in ("construct", "setup")


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


_READERS: dict[type[ast.stmt], Callable[[Reading, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.If: branches.if_statement,
    ast.For: branches.for_statement,
    ast.AsyncFor: branches.for_statement,
    ast.While: branches.while_statement,
    ast.With: branches.with_statement,
    ast.AsyncWith: branches.with_statement,
    ast.Try: branches.try_statement,
    ast.Match: branches.match_statement,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _class,
    ast.Import: imports.plain,
    ast.ImportFrom: imports.names,
}
