"""Functions without effects, whose results are computed from values that are known exactly."""

import ast
import math
import random
import re
import types
from typing import TYPE_CHECKING, Any

import numpy as np
from manim import Mobject

from .reading import Reading
from .values import UNKNOWN, Dictionary, Method, Sequence, Value, exactly, instance, is_known, many

if TYPE_CHECKING:
    from .calls import Arguments

_SIZE_MAX = 2_000
_BITS_MAX = 2_000
_COMPUTED: tuple[Any, ...] = (len, abs, round, min, max, sum, int, float, str, bool, ord, chr, divmod)
_COLLECTED: tuple[Any, ...] = (list, tuple, sorted)
_OF_CHANCE = (random.choice, random.sample, random.randint)
_OF_MATH = tuple(
    function
    for name, function in vars(math).items()
    if callable(function) and name not in ("factorial", "comb", "perm", "pow")
)
_OF_NUMPY: tuple[Any, ...] = (np.array, np.linalg.norm, np.cross, np.dot)
FUNCTIONS: frozenset[Any] = frozenset(
    (
        *_OF_CHANCE,
        *_COMPUTED,
        *_COLLECTED,
        *_OF_MATH,
        *_OF_NUMPY,
        range,
        enumerate,
        zip,
        reversed,
        print,
        isinstance,
        repr,
    )
)
_RESULTS: dict[Any, type] = {
    len: int,
    float: float,
    str: str,
    int: int,
    list: list,
    tuple: tuple,
    dict: dict,
    set: set,
    sorted: list,
    repr: str,
    np.array: np.ndarray,
    np.linspace: np.ndarray,
    np.zeros: np.ndarray,
    np.ones: np.ndarray,
    **dict.fromkeys((f for f in _OF_MATH if f not in (math.floor, math.ceil, math.trunc)), float),
}
_NOTHING = frozenset(["append", "extend", "insert", "clear", "sort", "reverse", "remove", "update"])
_OF_TEXT = frozenset(
    [
        "upper",
        "lower",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "title",
        "capitalize",
        "startswith",
        "endswith",
        "index",
    ]
)
# A width in a format.
_WIDE = re.compile(r"\d{4}")
REPORTED = (TypeError, ValueError, LookupError, ZeroDivisionError, OverflowError)


class Unclear(Exception):  # noqa: N818 (no error)
    """A value is not known exactly, or too large to compute with."""


def literal(value: Value) -> Any:
    """Return the object that a value is. Raises Unclear if that is not known, or it is large."""
    if isinstance(value, Sequence):
        if value.is_open or len(value.parts) > _SIZE_MAX:
            raise Unclear
        parts = [literal(part) for part in value.parts]
        return tuple(parts) if isinstance(value.thing, tuple) else parts
    if not value.is_it or isinstance(value, Method | Dictionary):
        raise Unclear
    thing = value.thing
    if isinstance(thing, int) and thing.bit_length() > _BITS_MAX:
        raise Unclear
    if isinstance(thing, str | tuple | list | range) and len(thing) > _SIZE_MAX:
        raise Unclear
    if isinstance(thing, np.ndarray) and thing.size > _SIZE_MAX:
        raise Unclear
    if thing is None or isinstance(
        thing, int | float | complex | str | bool | tuple | range | np.ndarray | np.generic
    ):
        return thing
    raise Unclear


def value_of(thing: Any) -> Value:
    """Return the value of what was computed."""
    if isinstance(thing, list | tuple):
        return Sequence([] if isinstance(thing, list) else (), parts=[value_of(part) for part in thing])
    return exactly(thing)


def result(reading: Reading, function: Any, arguments: "Arguments") -> Value | None:
    """Return what a function without effects returns; report that it fails. None: it is not one."""
    try:
        known = function in FUNCTIONS or function in _RESULTS
    except TypeError:  # not hashable
        return None
    if not known:
        return None
    has_more = arguments.has_more or arguments.has_more_named
    if function in (enumerate, zip) and not has_more and not arguments.named:
        if function is enumerate and len(arguments.given) != 1:
            return UNKNOWN
        return _paired(reading, function, arguments)
    if function in (sorted, min, max) and len(arguments.given) == 1 and not arguments.named:
        _check_order(reading, function, arguments)
    if function is len and len(arguments.given) == 1 and not has_more:
        _check_length(reading, arguments)
    computed = function in (*_COMPUTED, *_COLLECTED, *_OF_MATH, *_OF_NUMPY, range)
    if computed and not has_more:
        try:
            given = [literal(value) for value in arguments.given]
            named = {name: literal(value) for name, value in arguments.named.items()}
            return value_of(function(*given, **named))
        except Unclear:
            pass
        except REPORTED as error:
            reading.error(error, arguments.node)
            return UNKNOWN
        except Exception:
            return UNKNOWN
    if function in _OF_CHANCE:
        return _of_chance(reading, function, arguments)
    kind = _RESULTS.get(function)
    return UNKNOWN if kind is None else instance(kind, is_loose=kind in (float, int))


def _of_chance(reading: Reading, function: Any, arguments: "Arguments") -> Value:
    """Report what chance can't be asked for."""
    try:
        named = {name: literal(value) for name, value in arguments.named.items()}
        function(*[literal(value) for value in arguments.given], **named)
    except Unclear:
        pass
    except REPORTED as error:
        reading.error(error, arguments.node)
    return UNKNOWN


def _check_order(reading: Reading, function: Any, arguments: "Arguments") -> None:
    """Report mobjects that are to be sorted."""
    value = arguments.given[0]
    parts = value.parts if isinstance(value, Sequence) else []
    are_mobjects = all(isinstance(part.thing, Mobject) and not part.is_loose for part in parts)
    if len(parts) > 1 and are_mobjects and not getattr(value, "is_open", True):
        try:
            function([part.thing for part in parts])
        except TypeError as error:
            reading.error(error, arguments.node)


def _paired_alike(reading: Reading, function: Any, arguments: "Arguments") -> Value:
    from .operators import parts_of

    parts = [
        parts_of(reading, node, value)
        for node, value in zip(arguments.node.args, arguments.given, strict=False)
    ]
    if function is enumerate:
        parts = [instance(int), *parts[:1]]
    return many(Sequence((), parts=parts))


def _paired(reading: Reading, function: Any, arguments: "Arguments") -> Value:
    """Return what `enumerate` and `zip` make of lists that are known."""
    from .operators import all_parts

    wholes = [all_parts(value) for value in arguments.given]
    if any(parts is None or len(parts) > _SIZE_MAX for parts in wholes) or not wholes:
        return _paired_alike(reading, function, arguments)
    known = [parts for parts in wholes if parts is not None]
    if function is enumerate:
        if len(known) != 1:
            return UNKNOWN
        known = [[exactly(index) for index in range(len(known[0]))], *known]
    pairs = [Sequence((), parts=list(parts)) for parts in zip(*known, strict=False)]
    return Sequence([], parts=[*pairs])


def _check_length(reading: Reading, arguments: "Arguments") -> None:
    value = arguments.given[0]
    has_length = callable(value.thing) or hasattr(type(value.thing), "__len__")
    if is_known(value) and not has_length and not value.is_loose and not isinstance(value.thing, Mobject):
        text = f"object of type '{value.kind.__name__}' has no len()"
        reading.error(TypeError(text), arguments.node)


def result_of_method(reading: Reading, method: Method, arguments: "Arguments") -> Value:
    """Return what a method of a list, text or number returns."""
    owner, name = method.owner, method.name
    if owner is None:
        return UNKNOWN
    if isinstance(owner, Dictionary) and not owner.is_open and name in ("items", "keys", "values"):
        pairs = [(exactly(key), value) for key, value in owner.parts.items()]
        if name == "items":
            return Sequence([], parts=[Sequence((), parts=[*pair]) for pair in pairs])
        return Sequence([], parts=[pair[name == "values"] for pair in pairs])
    if owner.kind in (list, dict, set) and name in _NOTHING:
        return exactly(None)
    if owner.kind is str and name in _OF_TEXT:
        return _text(reading, owner, name, arguments)
    if owner.kind is str and name == "split":
        return instance(list)
    return UNKNOWN


def _text(reading: Reading, owner: Value, name: str, arguments: "Arguments") -> Value:
    if not arguments.has_more and not arguments.has_more_named:
        try:
            text = literal(owner)
            given = [literal(value) for value in arguments.given]
            named = {key: literal(value) for key, value in arguments.named.items()}
            if name != "format" or not _WIDE.search(text):
                return value_of(getattr(text, name)(*given, **named))
        except Unclear:
            pass
        except REPORTED as error:
            reading.error(error, arguments.node)
            return UNKNOWN
    return instance(bool if name.endswith("with") else int if name == "index" else str)


def is_builtin(function: object) -> bool:
    """Whether a function is one of C."""
    return isinstance(function, types.BuiltinFunctionType)


def truth(value: Value) -> bool | None:
    """Return whether a value counts as true; None if that is not known."""
    try:
        thing = literal(value)
        return bool(thing) if not isinstance(thing, np.ndarray) else None
    except (Unclear, ValueError):
        return None


def constant(node: ast.Constant) -> Value:
    """Return the value of a constant."""
    return exactly(node.value)
