"""What is known of the values of expressions; reports those that fail."""

import ast
from collections.abc import Callable
from contextlib import nullcontext
from types import FunctionType
from typing import Any

from manim import Mobject

from . import attributes, calls, operators, pure, texts
from .guards import guarded
from .own import function_of
from .reading import Body, Reading
from .scopes import Comprehension, Inner, Scope, scope_of
from .values import (
    UNKNOWN,
    Dictionary,
    Function,
    Method,
    Sequence,
    Value,
    exactly,
    instance,
    is_known,
    joined,
    many,
)

_UNROLLED_MAX = 12
_PARTS_MAX = 200
_STEPS_FOR_LOOPS = 15_000


def value_of(reading: Reading, node: ast.expr) -> Value:
    """Return the value of an expression; report what fails in it."""
    reading.step()
    found = _READERS.get(type(node), _other)(reading, node)
    reading.values[node] = found
    return found


def _other(reading: Reading, node: ast.expr) -> Value:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            value_of(reading, child)
    return UNKNOWN


def _constant(_: Reading, node: ast.Constant) -> Value:
    return exactly(node.value)


def _name(reading: Reading, node: ast.Name) -> Value:
    return reading.name(node)


def _attribute(reading: Reading, node: ast.Attribute) -> Value:
    match node.value:
        case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]):
            return _of_super(reading, node)
    owner = value_of(reading, node.value)
    return attributes.attribute(reading, owner, node)


def _of_super(reading: Reading, node: ast.Attribute) -> Value:
    """Return a method of the bases of the class whose method is read."""
    scope: Scope | None = reading.scope
    while scope is not None and scope.owner is None:
        scope = scope.parent
    if scope is None or scope.owner is None:
        return UNKNOWN
    kind = scope.owner
    for base in kind.__mro__[1:]:
        if node.attr in vars(base):
            found = vars(base)[node.attr]
            if isinstance(found, FunctionType):
                return Method(found, owner=instance(kind, is_loose=True), name=node.attr)
            return UNKNOWN
    if node.attr in reading.free or reading.is_attributes_wild or hasattr(kind, "__getattr__"):
        return UNKNOWN
    if issubclass(kind, Mobject):
        return UNKNOWN
    text = f"'super' object has no attribute '{node.attr}'"
    reading.error(AttributeError(text, name=node.attr, obj=instance(kind.__mro__[1]).thing), node)
    return UNKNOWN


def _call(reading: Reading, node: ast.Call) -> Value:
    called = value_of(reading, node.func)
    given: list[Value] = []
    has_more = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            whole = value_of(reading, argument.value)
            if isinstance(whole, Sequence) and not whole.is_open and not has_more:
                given += whole.parts
                continue
            operators.parts_of(reading, argument.value, whole)
            has_more = True
        elif has_more:
            value_of(reading, argument)
        else:
            given.append(value_of(reading, argument))
    named: dict[str, Value] = {}
    has_more_named = False
    for keyword in node.keywords:
        value = value_of(reading, keyword.value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif (
            isinstance(value, Dictionary)
            and not value.is_open
            and all(isinstance(k, str) for k in value.parts)
        ):
            named |= value.parts
        else:
            has_more_named = True
    arguments = calls.Arguments(node, given, named, has_more, has_more_named)
    if called.is_it and called.thing is input and not has_more:
        reading.error(EOFError("EOF when reading a line"), node)
        return instance(str)
    return calls.call(reading, called, arguments)


def _list(reading: Reading, node: ast.List | ast.Tuple) -> Value:
    thing: Any = [] if isinstance(node, ast.List) else ()
    parts: list[Value] = []
    is_open = False
    for element in node.elts:
        if isinstance(element, ast.Starred):
            whole = value_of(reading, element.value)
            if isinstance(whole, Sequence) and not whole.is_open:
                parts += whole.parts
            else:
                is_open = True
        else:
            parts.append(value_of(reading, element))
    return Sequence(thing, parts=parts, is_open=is_open)


def _dict(reading: Reading, node: ast.Dict) -> Value:
    parts: dict[Any, Value] = {}
    is_open = False
    for key, value in zip(node.keys, node.values, strict=True):
        found = value_of(reading, value)
        if key is None:
            is_open = True
            continue
        try:
            parts[pure.literal(value_of(reading, key))] = found
        except (pure.Unclear, TypeError):
            is_open = True
    return Dictionary({}, parts=parts, is_open=is_open)


def _set(reading: Reading, node: ast.Set) -> Value:
    _other(reading, node)
    return instance(set)


def _binary(reading: Reading, node: ast.BinOp) -> Value:
    left = value_of(reading, node.left)
    return operators.binary(reading, node, left, value_of(reading, node.right))


def _unary(reading: Reading, node: ast.UnaryOp) -> Value:
    return operators.unary(reading, node, value_of(reading, node.operand))


def _compare(reading: Reading, node: ast.Compare) -> Value:
    values = [value_of(reading, part) for part in (node.left, *node.comparators)]
    return operators.compare(reading, node, values)


def _subscript(reading: Reading, node: ast.Subscript) -> Value:
    owner = value_of(reading, node.value)
    index = value_of(reading, node.slice)
    return operators.element(reading, node, owner, index)


def _slice(reading: Reading, node: ast.Slice) -> Value:
    for part in (node.lower, node.upper, node.step):
        if part is not None:
            value_of(reading, part)
    return UNKNOWN


def _text(reading: Reading, node: ast.JoinedStr) -> Value:
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        if not isinstance(part, ast.FormattedValue):
            return instance(str)
        value = value_of(reading, part.value)
        if part.format_spec is not None:
            spec = value_of(reading, part.format_spec)
            texts.check_format(reading, part, value, spec)
        try:
            thing = pure.literal(value)
        except pure.Unclear:
            parts.append("")
            continue
        if part.format_spec is None and part.conversion == -1 and isinstance(thing, str | int):
            parts.append(str(thing))
        else:
            parts.append("")
    is_exact = all(
        isinstance(part, ast.Constant)
        or (
            isinstance(part, ast.FormattedValue)
            and part.format_spec is None
            and texts.is_exact(reading, part.value)
        )
        for part in node.values
    )
    return exactly("".join(parts)) if is_exact else instance(str)


def _lambda(reading: Reading, node: ast.Lambda) -> Value:
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            value_of(reading, default)
    known = reading.values.get(node)
    if isinstance(known, Function):
        made = Function(known.thing, node=node, scope=reading.scope)
    else:
        made = Function(function_of(node, "<lambda>"), node=node, scope=reading.scope)
        reading.functions[made.thing] = made
    if not reading.report.silent:
        reading.later.append(Body(node, reading.scope, None, caught=[*reading.report.caught]))
    return made


def _condition(reading: Reading, node: ast.IfExp) -> Value:
    is_true = pure.truth(value_of(reading, node.test))
    found = []
    if is_true is not False:
        with guarded(reading, node.test):
            found.append(value_of(reading, node.body))
    if is_true is not True:
        with guarded(reading, node.test):
            found.append(value_of(reading, node.orelse))
    return joined(found)


def _boolean(reading: Reading, node: ast.BoolOp) -> Value:
    first = value_of(reading, node.values[0])
    is_true = pure.truth(first)
    if is_true is not None and is_true == isinstance(node.op, ast.Or):
        return first
    with guarded(reading, node.values[0]):
        for part in node.values[1:]:
            value_of(reading, part)
    return UNKNOWN


def _comprehension(reading: Reading, node: Comprehension) -> Value:
    scope = Scope("function", reading.scope, scope_of("function", None, []).bound)
    first = node.generators[0]
    values = [value_of(reading, first.iter)]
    for generator in node.generators:
        for inner in ast.walk(generator.target):
            if isinstance(inner, ast.Name):
                scope.bound[inner.id] += 1
    returned, before = reading.returned, reading.scope
    reading.scope = Inner(scope, before)
    elements: list[Value] = []
    try:
        for part in _unrolled(reading, node, values[0]) or [
            operators.parts_of(reading, first.iter, values[0])
        ]:
            elements.append(_element(reading, node, part))
    finally:
        reading.scope, reading.returned = before, returned
    if not isinstance(node, ast.ListComp):
        return UNKNOWN
    parts = operators.all_parts(values[0])
    if len(node.generators) > 1 or first.ifs or parts is None or len(parts) > _PARTS_MAX:
        return many(joined(elements))
    if len(elements) == len(parts):
        return Sequence([], parts=elements)
    return Sequence([], parts=[joined(elements)] * len(parts))


def _unrolled(reading: Reading, node: Comprehension, whole: Value) -> list[Value] | None:
    """Return the parts that a comprehension goes through, if they are few."""
    parts = operators.all_parts(whole)
    is_short = parts is not None and len(parts) <= _UNROLLED_MAX and reading.steps < _STEPS_FOR_LOOPS
    return parts if is_short and len(node.generators) == 1 else None


def _element(reading: Reading, node: Comprehension, part: Value) -> Value:
    """Read a comprehension for one part of what it goes through."""
    for index, generator in enumerate(node.generators):
        if index:
            whole = value_of(reading, generator.iter)
            part = operators.parts_of(reading, generator.iter, whole)
        bind(reading, generator.target, part)
        for condition in generator.ifs:
            if pure.truth(value_of(reading, condition)) is False:
                return UNKNOWN
    with guarded(reading, node.generators[-1].ifs[0]) if node.generators[-1].ifs else nullcontext():
        if isinstance(node, ast.DictComp):
            value_of(reading, node.key)
            return value_of(reading, node.value)
        return value_of(reading, node.elt)


def _named(reading: Reading, node: ast.NamedExpr) -> Value:
    found = value_of(reading, node.value)
    scope = reading.scope
    while isinstance(scope, Inner) and scope.parent is not None:
        scope.names[node.target.id] = UNKNOWN
        scope = scope.parent
    scope.bind(node.target.id, found)
    return found


def bind(reading: Reading, target: ast.expr, value: Value) -> None:
    """Assign a value to a target."""
    reading.step()
    if isinstance(target, ast.Name):
        reading.scope.bind(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        _unpack(reading, target, value)
    elif isinstance(target, ast.Starred):
        bind(reading, target.value, UNKNOWN)
    elif isinstance(target, ast.Attribute):
        owner = value_of(reading, target.value)
        reading.note_attribute(target.attr, value)
        if is_known(owner) and owner.is_it and owner.thing is None:
            text = f"'NoneType' object has no attribute '{target.attr}'"
            reading.error(AttributeError(text, name=target.attr, obj=None), target)
    elif isinstance(target, ast.Subscript):
        owner = value_of(reading, target.value)
        value_of(reading, target.slice)
        if isinstance(owner, Sequence | Dictionary):
            if isinstance(owner.thing, tuple):
                text = "'tuple' object does not support item assignment"
                reading.error(TypeError(text), target)
            owner.change()
        elif type(owner) is Value and is_known(owner) and not owner.is_loose:
            kind = owner.kind
            if kind is str or (isinstance(owner.thing, Mobject) and not hasattr(kind, "__setitem__")):
                text = f"'{kind.__name__}' object does not support item assignment"
                reading.error(TypeError(text), target)


def _unpack(reading: Reading, target: ast.Tuple | ast.List, value: Value) -> None:
    targets = target.elts
    has_star = any(isinstance(one, ast.Starred) for one in targets)
    parts: list[Value] = [UNKNOWN] * len(targets)
    if isinstance(value, Sequence) and not value.is_open and not has_star:
        count, needed = len(value.parts), len(targets)
        if count > needed:
            reading.error(ValueError(f"too many values to unpack (expected {needed})"), target)
        elif count < needed:
            text = f"not enough values to unpack (expected {needed}, got {count})"
            reading.error(ValueError(text), target)
        else:
            parts = value.parts
    elif type(value) is Value and is_known(value) and not value.is_loose:
        kind = value.kind
        is_plain = kind in (int, float, bool, type(None)) or isinstance(value.thing, Mobject)
        if is_plain and not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
            reading.error(TypeError(f"cannot unpack non-iterable {kind.__name__} object"), target)
    for one, part in zip(targets, parts, strict=True):
        bind(reading, one, part)


_READERS: dict[type[ast.expr], Callable[[Reading, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.List: _list,
    ast.Tuple: _list,
    ast.Dict: _dict,
    ast.Set: _set,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _text,
    ast.Lambda: _lambda,
    ast.IfExp: _condition,
    ast.BoolOp: _boolean,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.NamedExpr: _named,
}
