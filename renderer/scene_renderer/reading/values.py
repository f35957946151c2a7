"""What is known of the values of expressions."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from manim import Mobject

_SAMPLES: dict[type, Any] = {
    float: 0.5,
    int: 1,
    str: "",
    bool: True,
    list: [],
    tuple: (),
    dict: {},
    set: set(),
    type(None): None,
    np.ndarray: np.zeros(3),
}


@dataclass(eq=False)
class Value:
    """An object, or one that stands for it: of the same class, but without its attributes.

    `is_it`: the object itself; `is_loose`: its class may also be a subclass of that of `thing`.
    """

    thing: Any
    is_it: bool = False
    is_loose: bool = False

    @property
    def kind(self) -> type:
        """Its class."""
        return type(self.thing)


@dataclass(eq=False)
class Sequence(Value):
    """A list or tuple whose parts are known; `is_open`: it may have grown or shrunk since.

    `is_uniform`: how many parts there are is not known, but each is like the only one of `parts`.
    """

    parts: list[Value] = field(default_factory=list)
    is_open: bool = False
    is_uniform: bool = False

    def change(self) -> None:
        """Note that it may have been changed."""
        self.is_open, self.is_uniform = True, False


@dataclass(eq=False)
class Dictionary(Value):
    """A dictionary whose keys are known; `is_open`: others may have been added."""

    parts: dict[Any, Value] = field(default_factory=dict)
    is_open: bool = False

    def change(self) -> None:
        """Note that it may have been changed."""
        self.is_open = True


@dataclass(eq=False)
class Method(Value):
    """A function that is bound to an object or class."""

    owner: Value | None = None
    name: str = ""


@dataclass(eq=False)
class Builder(Value):
    """``mobject.animate``: `thing` stands for the mobject; `has_method`: one was called already."""

    has_method: bool = False


@dataclass(eq=False)
class Accessor(Value):
    """What Manim makes of ``mobject.get_…`` and ``set_…``; `thing` stands for the mobject."""

    name: str = ""
    is_animated: bool = False


@dataclass(eq=False)
class Function(Value):
    """A function of the author; `thing` has the same parameters and does nothing."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None
    # The scope that it is defined in.
    scope: Any = None


UNKNOWN = Value(object())


def exactly(thing: Any) -> Value:
    """Return a value that is known."""
    return Value(thing, is_it=True)


def instance(kind: type, *, is_loose: bool = False) -> Value:
    """Return an instance of a class; unknown if none can be made without running its constructor."""
    if kind is np.ndarray:
        is_loose = False  # what Manim makes are plain ones
    if kind in _SAMPLES:
        is_none = kind is type(None)
        return Value(_SAMPLES[kind], is_it=is_none, is_loose=is_loose)
    try:
        return Value(object.__new__(kind), is_loose=is_loose)
    except TypeError:
        return UNKNOWN


def many(part: Value) -> Sequence:
    """Return a list of unknown length whose parts are alike."""
    return Sequence([], parts=[part], is_open=True, is_uniform=True)


def shown(value: Value) -> object:
    """Return what stands for a value in advice: with as many parts as it has."""
    if isinstance(value, Sequence):
        parts = [part.thing for part in value.parts]
        return tuple(parts) if isinstance(value.thing, tuple) else parts
    if isinstance(value, Dictionary):
        return {key: part.thing for key, part in value.parts.items()}
    return value.thing


def is_known(value: Value) -> bool:
    """Whether anything is known of a value."""
    return value is not UNKNOWN


def is_mobject(value: Value) -> bool:
    """Whether a value is certainly a mobject."""
    return type(value) is Value and isinstance(value.thing, Mobject)


def joined(values: Iterable[Value]) -> Value:
    """Return what is known of a value that is one of several."""
    found: Value | None = None
    for value in values:
        if value is UNKNOWN:
            return UNKNOWN
        if found is None or value is found:
            found = value
            continue
        found = _joined(found, value)
        if found is UNKNOWN:
            return UNKNOWN
    return UNKNOWN if found is None else found


def _joined(one: Value, other: Value) -> Value:
    if one.is_it and other.is_it and one.thing is other.thing:
        return one
    if one.kind is not other.kind or isinstance(one.thing, type) or callable(one.thing):
        return UNKNOWN
    plain = (Value, Sequence, Dictionary)
    if type(one) not in plain or type(other) not in plain or one.thing is None:
        return one if type(one) is type(other) is Builder and one.kind is other.kind else UNKNOWN
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        parts = one.parts if len(one.parts) == len(other.parts) else []
        if parts:
            merged = [joined(pair) for pair in zip(one.parts, other.parts, strict=True)]
            return Sequence(one.thing, parts=merged, is_open=one.is_open or other.is_open)
        return Sequence(one.thing, is_open=True)
    return instance(one.kind, is_loose=one.is_loose or other.is_loose)
