"""Kinds of things, by annotations and by values: what an argument should be, and what it is."""

import inspect
import re
import types
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import manim
import numpy as np
from manim import Animation, Mobject, Scene

from .values import Builder, Dictionary, Function, Method, Sequence, Value, is_known

if TYPE_CHECKING:
    from .calls import Arguments

# The kinds of things that the names in an annotation stand for; empty: of names that say nothing.
_WORDS = {
    "number": "float int bool complex",
    "text": "str Path",
    "points": "Sequence Iterable ndarray list tuple Matrix MatrixMN RGBA_Array_Float Vector3D "
    "Point3D Vector3DLike Point3DLike Point3DLike_Array Point3D_Array Vector2DLike Point2DLike",
    "function": "Callable RateFunction Updater MultiMappingFunction MappingFunction",
    "none": "None",
    "": "np npt collections abc typing Literal Optional Union",
}
_KIND_OF_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_ARGUMENTS_OF = re.compile(r"\[[^\[\]]*\]")
_WORD = re.compile(r"[A-Za-z_]\w*")


@cache
def annotations(function: types.FunctionType) -> tuple[list[tuple[str, str]], str | None]:
    """Return the parameters after the first with their annotations, and the annotation of `*args`."""
    found, rest = [], None
    for parameter in [*inspect.signature(function).parameters.values()][1:]:
        text = parameter.annotation if isinstance(parameter.annotation, str) else ""
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = text
        elif parameter.kind is not parameter.VAR_KEYWORD:
            found.append((parameter.name, text))
    return found, rest


def expected(function: types.FunctionType, arguments: "Arguments") -> Iterator[tuple[str, Value]]:
    """Yield the annotations of parameters with what they are given."""
    parameters, rest = annotations(function)
    for index, value in enumerate(arguments.given):
        if index < len(parameters) and rest is None:
            yield parameters[index][1], value
        elif rest is not None and not parameters[:index]:
            yield rest, value
    known = dict(parameters)
    for name, value in arguments.named.items():
        yield known.get(name, ""), value


@cache
def _accepted(annotation: str) -> frozenset[str] | None:
    """Return the kinds of things that an annotation names; None if it isn't clear."""
    text = annotation
    while (shorter := _ARGUMENTS_OF.sub("", text)) != text:
        text = shorter
    found = set()
    for word in _WORD.findall(text):
        kind = "" if word.startswith("OpenGL") else _KIND_OF_WORD.get(word)
        if kind is None:
            thing = vars(manim).get(word)
            if word == "ParsableManimColor" or not isinstance(thing, type):
                return None
            kind = (
                "mobject"
                if issubclass(thing, Mobject)
                else "animation"
                if issubclass(thing, Animation)
                else None
            )
        if kind is None:
            return None
        found.add(kind)
    return frozenset(found - {""})


def is_strange(annotation: str, value: Value) -> bool:
    """Whether a value is certainly of another kind than an annotation says."""
    given = kind_of(value)
    accepted = _accepted(annotation)
    return bool(accepted) and given not in (None, "none") and given not in (accepted or ())


def kind_of(value: Value) -> str | None:
    """Return what kind of thing a value is; None if that is not clear."""
    if isinstance(value, Builder):
        return "animation"
    if isinstance(value, Function | Method):
        return "function"
    if isinstance(value, Sequence):
        return "points"
    if isinstance(value, Dictionary) or not is_known(value):
        return None
    thing = value.thing
    if thing is None:
        return "none"
    if isinstance(thing, type):
        return "class"
    if isinstance(thing, Animation):
        return "animation"
    if isinstance(thing, Scene):
        return "scene"
    if isinstance(thing, Mobject):
        return "mobject"
    if isinstance(thing, int | float | np.number):
        return "number"
    if isinstance(thing, str):
        return "text"
    return "points" if isinstance(thing, np.ndarray | list | tuple) else None
