"""Operators and elements of values."""

import ast
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
from manim import Mobject, VMobject

from .attributes import result_of
from .installed import INSTALLED, subclasses_of
from .pure import REPORTED, Unclear, literal, value_of
from .reading import Reading
from .values import UNKNOWN, Dictionary, Sequence, Value, exactly, instance, is_known, joined

_BINARY: dict[type[ast.operator], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", "add", operator.add),
    ast.Sub: ("-", "sub", operator.sub),
    ast.Mult: ("*", "mul", operator.mul),
    ast.Div: ("/", "truediv", operator.truediv),
    ast.FloorDiv: ("//", "floordiv", operator.floordiv),
    ast.Mod: ("%", "mod", operator.mod),
    ast.Pow: ("** or pow()", "pow", operator.pow),
    ast.MatMult: ("@", "matmul", operator.matmul),
    ast.BitOr: ("|", "or", operator.or_),
    ast.BitAnd: ("&", "and", operator.and_),
    ast.BitXor: ("^", "xor", operator.xor),
}
_ORDERED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIZE_MAX = 2_000
_NUMBERS = (int, float, complex, bool)
_PLAIN = (int, float, str, bool, list, tuple, dict, set, type(None))


def binary(reading: Reading, node: ast.BinOp | ast.AugAssign, left: Value, right: Value) -> Value:
    """Return the result of an operator."""
    if type(node.op) not in _BINARY or not is_known(left) or not is_known(right):
        return UNKNOWN
    sign, name, compute = _BINARY[type(node.op)]
    try:
        values = literal(left), literal(right)
        if _is_too_large(node.op, *values):
            return _plain_result(left, right)
        with np.errstate(all="ignore"):
            return value_of(compute(*values))
    except Unclear:
        pass
    except REPORTED as error:
        reading.error(error, node)
        return UNKNOWN
    except Exception:
        return UNKNOWN
    if _are_unsupported(name, left, right):
        kinds = f"'{_name(left)}' and '{_name(right)}'"
        if isinstance(node, ast.AugAssign):
            sign = f"{sign.split(' ')[0]}="
        reading.error(TypeError(f"unsupported operand type(s) for {sign}: {kinds}"), node)
        return UNKNOWN
    return _of_samples(reading, node, left, right, compute)


def _name(value: Value) -> str:
    return value.kind.__name__


def _is_too_large(sign: ast.operator, left: Any, right: Any) -> bool:
    if isinstance(sign, ast.Pow):
        if isinstance(left, int) and isinstance(right, int):
            return abs(right) * max(1, left.bit_length()) > _SIZE_MAX
        return isinstance(left, np.ndarray) and left.size > _SIZE_MAX
    if isinstance(sign, ast.Mult):
        for one, other in ((left, right), (right, left)):
            if isinstance(one, str | list | tuple) and isinstance(other, int):
                return len(one) * max(0, other) > _SIZE_MAX
    return isinstance(sign, ast.Mod) and isinstance(left, str)


def _plain_result(left: Value, right: Value) -> Value:
    return instance(left.kind) if left.kind is right.kind and left.kind in (int, str) else UNKNOWN


def _are_unsupported(name: str, left: Value, right: Value) -> bool:
    """Whether neither class defines an operator."""
    for value, method in ((left, f"__{name}__"), (right, f"__r{name}__")):
        if callable(value.thing) and not isinstance(value.thing, types.FunctionType | types.MethodType):
            return False
        kinds = [value.kind]
        if value.is_loose:
            kinds += subclasses_of(value.kind)
        if any(hasattr(kind, method) for kind in kinds):
            has_own = value.kind in _PLAIN
            if not has_own:
                return False
            other = right if value is left else left
            if not isinstance(other.thing, Mobject) or other.is_loose:
                return False
        if value.kind in _PLAIN and not isinstance((right if value is left else left).thing, Mobject):
            return False
    return isinstance(left.thing, Mobject) or isinstance(right.thing, Mobject)


def _of_samples(
    reading: Reading,
    node: ast.BinOp | ast.AugAssign,
    left: Value,
    right: Value,
    compute: Callable[[Any, Any], Any],
) -> Value:
    kinds = {left.kind, right.kind}
    if kinds <= {*_PLAIN} and not isinstance(node.op, ast.Mod):
        is_number_loose = any(value.is_loose and value.kind in _NUMBERS for value in (left, right))
        if isinstance(node.op, ast.Mult) and is_number_loose and kinds & {list, tuple, str}:
            return UNKNOWN
        try:
            found = compute(_sample(left), _sample(right))
        except TypeError as error:
            # An array of NumPy may be where a number is expected.
            if not (is_number_loose and kinds & {list, tuple}):
                reading.error(error, node)
            return UNKNOWN
        except Exception:
            return UNKNOWN
        is_loose = left.is_loose or right.is_loose
        return instance(type(found), is_loose=is_loose) if type(found) in _PLAIN else UNKNOWN
    if np.ndarray in kinds and kinds <= {np.ndarray, int, float, list, tuple, bool}:
        return instance(np.ndarray, is_loose=True)
    if np.ndarray in kinds and str in kinds and isinstance(node.op, ast.Add | ast.Sub):
        return UNKNOWN
    return UNKNOWN


def _sample(value: Value) -> Any:
    if value.is_it:
        return value.thing
    return {int: 1, float: 0.5, str: "a", list: [1], tuple: (1,)}.get(value.kind, value.thing)


def unary(reading: Reading, node: ast.UnaryOp, value: Value) -> Value:
    """Return the result of an operator with one operand."""
    if not is_known(value):
        return UNKNOWN
    try:
        thing = literal(value)
        if isinstance(node.op, ast.Not):
            return UNKNOWN if isinstance(thing, np.ndarray) else value_of(not thing)
        if isinstance(node.op, ast.USub):
            return value_of(-thing)
        return value_of(+thing) if isinstance(node.op, ast.UAdd) else UNKNOWN
    except Unclear:
        pass
    except TypeError as error:
        reading.error(error, node)
        return UNKNOWN
    except Exception:
        return UNKNOWN
    if isinstance(node.op, ast.USub | ast.UAdd):
        if value.kind in (float, int, np.ndarray):
            return Value(value.thing, is_loose=True)
        sign, method = ("-", "__neg__") if isinstance(node.op, ast.USub) else ("+", "__pos__")
        if (
            isinstance(value.thing, Mobject)
            and INSTALLED.lacks(value.kind, method[2:-2], is_loose=value.is_loose)
            and not hasattr(value.kind, method)
        ):
            reading.error(TypeError(f"bad operand type for unary {sign}: '{_name(value)}'"), node)
    return UNKNOWN


def compare(reading: Reading, node: ast.Compare, values: list[Value]) -> Value:
    """Return the result of comparisons."""
    found: Value = UNKNOWN
    for sign, left, right in zip(node.ops, values, values[1:], strict=False):
        found = _compared(reading, node, sign, left, right)
    return found if len(node.ops) == 1 else UNKNOWN


def _compared(reading: Reading, node: ast.Compare, sign: ast.cmpop, left: Value, right: Value) -> Value:
    if not is_known(left) or not is_known(right):
        return UNKNOWN
    try:
        one, other = literal(left), literal(right)
        if isinstance(sign, ast.Is | ast.IsNot):
            if one is not None and other is not None:
                return UNKNOWN
            return value_of((one is other) == isinstance(sign, ast.Is))
        if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
            return UNKNOWN
        if isinstance(sign, ast.Eq | ast.NotEq):
            return value_of((one == other) == isinstance(sign, ast.Eq))
        if isinstance(sign, ast.In | ast.NotIn):
            return value_of((one in other) == isinstance(sign, ast.In))
        return value_of(_ORDERED[type(sign)](one, other))
    except Unclear:
        pass
    except TypeError as error:
        reading.error(error, node)
        return UNKNOWN
    except Exception:
        return UNKNOWN
    if type(sign) in _ORDERED and {left.kind, right.kind} <= {*_PLAIN}:
        try:
            _ORDERED[type(sign)](_sample(left), _sample(right))
        except TypeError as error:
            reading.error(error, node)
    elif (
        type(sign) in _ORDERED
        and isinstance(left.thing, Mobject)
        and (right.kind in _PLAIN or isinstance(right.thing, Mobject))
    ) and (
        not hasattr(left.kind, "__lt__")
        or inspect.getattr_static(left.kind, "__lt__") is vars(object)["__lt__"]
    ):
        shown = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(sign)]
        text = f"'{shown}' not supported between instances of '{_name(left)}' and '{_name(right)}'"
        if not left.is_loose:
            reading.error(TypeError(text), node)
    return UNKNOWN


def element(reading: Reading, node: ast.Subscript, owner: Value, index: Value) -> Value:
    """Return an element of a value."""
    if not is_known(owner):
        return UNKNOWN
    if isinstance(owner, Sequence):
        return _of_sequence(reading, node, owner, index)
    if isinstance(owner, Dictionary):
        return _of_dictionary(reading, node, owner, index)
    if type(owner) is not Value or isinstance(owner.thing, type):
        if isinstance(owner.thing, types.FunctionType) and not isinstance(owner.thing, type):
            kind = "function" if getattr(owner, "owner", None) is None else "method"
            reading.error(TypeError(f"'{kind}' object is not subscriptable"), node)
        return UNKNOWN
    try:
        whole = literal(owner)
        if isinstance(whole, str | tuple | range | np.ndarray) and is_known(index):
            found = whole[literal(index)]
            return value_of(found) if not isinstance(found, np.ndarray) or found.size < _SIZE_MAX else UNKNOWN
    except Unclear:
        pass
    except (LookupError, TypeError) as error:
        reading.error(error, node)
        return UNKNOWN
    except Exception:
        return UNKNOWN
    return _of_instance(reading, node, owner)


def _of_instance(reading: Reading, node: ast.Subscript, owner: Value) -> Value:
    kind = owner.kind
    kinds = [kind, *(subclasses_of(kind) if owner.is_loose else [])]
    if isinstance(owner.thing, Mobject):
        getter = inspect.getattr_static(kind, "__getitem__", None)
        return result_of(getter, None) if isinstance(getter, types.FunctionType) else UNKNOWN
    is_plain = kind.__module__.partition(".")[0] in ("builtins", "manim", "scene")
    is_array = owner.is_loose and kind in _NUMBERS  # where a number is expected, arrays may be
    if is_plain and not is_array and not any(hasattr(one, "__getitem__") for one in kinds):
        reading.error(TypeError(f"'{kind.__name__}' object is not subscriptable"), node)
    return UNKNOWN


def _of_sequence(reading: Reading, node: ast.Subscript, owner: Sequence, index: Value) -> Value:
    try:
        place = literal(index)
    except Unclear:
        return UNKNOWN
    if isinstance(place, str | float | tuple | list) or place is None:
        kind = owner.kind.__name__
        text = f"{kind} indices must be integers or slices, not {type(place).__name__}"
        reading.error(TypeError(text), node)
        return UNKNOWN
    if owner.is_uniform and isinstance(place, int):
        return owner.parts[0]
    if owner.is_open:
        return UNKNOWN
    try:
        return owner.parts[place] if isinstance(place, int) else UNKNOWN
    except IndexError:
        kind = owner.kind.__name__
        reading.error(IndexError(f"{kind} index out of range"), node)
    except TypeError:
        pass
    return UNKNOWN


def _of_dictionary(reading: Reading, node: ast.Subscript, owner: Dictionary, index: Value) -> Value:
    try:
        key = literal(index)
        if key in owner.parts:
            return owner.parts[key]
    except (Unclear, TypeError):
        return UNKNOWN
    if not owner.is_open:
        reading.error(KeyError(key), node)
    return UNKNOWN


def all_parts(value: Value) -> list[Value] | None:
    """Return what a loop over a value goes through; None if that is not known."""
    if isinstance(value, Sequence):
        return None if value.is_open else [*value.parts]
    if isinstance(value, Dictionary):
        return None if value.is_open else [exactly(key) for key in value.parts]
    if value.is_it and isinstance(value.thing, range) and len(value.thing) <= _SIZE_MAX:
        return [value_of(one) for one in value.thing]
    return None


def parts_of(reading: Reading, node: ast.expr, value: Value) -> Value:
    """Return one of the parts that a loop over a value goes through; report that there are none."""
    if not is_known(value):
        return UNKNOWN
    if isinstance(value, Sequence):
        return UNKNOWN if value.is_open and not value.is_uniform else joined(value.parts)
    if isinstance(value, Dictionary):
        return joined(exactly(key) for key in value.parts) if not value.is_open and value.parts else UNKNOWN
    thing = value.thing
    if type(value) is Value and isinstance(thing, Mobject):
        return instance(VMobject if isinstance(thing, VMobject) else Mobject, is_loose=True)
    if value.is_it and isinstance(thing, range):
        return instance(int) if len(thing) != 1 else UNKNOWN
    if value.is_it and isinstance(thing, str):
        return instance(str)
    if type(value) is not Value or isinstance(thing, type) or value.is_loose:
        if isinstance(thing, types.FunctionType):
            kind = "method" if getattr(value, "owner", None) is not None else "function"
            reading.error(TypeError(f"'{kind}' object is not iterable"), node)
        return UNKNOWN
    is_iterable = hasattr(value.kind, "__iter__") or hasattr(value.kind, "__getitem__")
    if not is_iterable and value.kind.__module__.partition(".")[0] in ("builtins", "manim"):
        reading.error(TypeError(f"'{value.kind.__name__}' object is not iterable"), node)
    return UNKNOWN
