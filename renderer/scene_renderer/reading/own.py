"""Classes and functions that stand for those of the author: with the same names, and without their code."""

import ast
import inspect
import types
from collections.abc import Iterable
from functools import cache
from typing import Any

from .scopes import Definition, arguments_of

MODULE = "scene"


class Opaque:
    """Stands for an attribute of a class of which nothing is known."""

    def __call__(self, *_: object, **__: object) -> None:
        """Do nothing."""


OPAQUE = Opaque()


def function_of(node: Definition | ast.Lambda, qualified_name: str) -> types.FunctionType:
    """Return a function with the parameters of another that does nothing."""
    arguments = node.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    with_default = len(positional) - len(arguments.defaults)
    parts = []
    for index, name in enumerate(positional):
        parts.append(name if index < with_default else f"{name}=None")
        if index + 1 == len(arguments.posonlyargs):
            parts.append("/")
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
    elif arguments.kwonlyargs:
        parts.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parts.append(argument.arg if default is None else f"{argument.arg}=None")
    if arguments.kwarg:
        parts.append(f"**{arguments.kwarg.arg}")
    return _empty(", ".join(parts), qualified_name)


@cache
def mimic(function: types.FunctionType) -> types.FunctionType:
    """Return a function that takes the same arguments as another, and does nothing."""
    parts = []
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    stars: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    is_keyword_only = False
    for index, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword_only:
            parts.append("*")
        is_keyword_only |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        default = "" if parameter.default is parameter.empty else "=None"
        parts.append(f"{stars.get(parameter.kind, '')}{parameter.name}{default}")
        after = parameters[index + 1] if index + 1 < len(parameters) else None
        if parameter.kind is parameter.POSITIONAL_ONLY and (
            after is None or after.kind is not parameter.kind
        ):
            parts.append("/")
    return _empty(", ".join(parts), function.__qualname__)


def _empty(parameters: str, qualified_name: str) -> types.FunctionType:
    names: dict[str, Any] = {}
    exec(f"def made({parameters}): pass", names)
    made: types.FunctionType = names["made"]
    made.__qualname__ = qualified_name
    made.__name__ = qualified_name.rpartition(".")[2]
    made.__module__ = MODULE
    return made


def class_of(node: ast.ClassDef, bases: Iterable[type]) -> type | None:
    """Return a class with the bases and the names of attributes of another; None if there is none."""
    attributes: dict[str, Any] = {"__module__": MODULE, "__qualname__": node.name}
    for statement in node.body:
        if isinstance(statement, Definition):
            attributes[statement.name] = _attribute_of(statement, node.name)
            continue
        for inner in ast.walk(statement):
            match inner:
                case ast.Name(id=name, ctx=ast.Store()):
                    attributes[name] = OPAQUE
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    attributes[name] = OPAQUE
    attributes.pop("__slots__", None)
    try:
        return types.new_class(node.name, tuple(bases), {}, lambda names: names.update(attributes))
    except Exception:  # whatever a metaclass thinks of it
        return None


def _attribute_of(node: Definition, owner: str) -> object:
    function = function_of(node, f"{owner}.{node.name}")
    match node.decorator_list:
        case []:
            return function
        case [ast.Name(id="staticmethod")]:
            return staticmethod(function)
        case [ast.Name(id="classmethod")]:
            return classmethod(function)
        case [ast.Name(id="property")]:
            return property(function)
    return OPAQUE


def first_parameter(node: Definition) -> str | None:
    """Return the name of the first parameter."""
    return next((argument.arg for argument in arguments_of(node.args)), None)
