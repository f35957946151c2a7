"""The arguments that classes and functions of Manim accept."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

import manim

_SELF_NAMES = {"self", "cls"}
_CALLED = re.compile(r"(\w+)(?:\.(\w+))?\(\)")


def keywords_of(called: object) -> list[str]:
    """Return the keyword arguments that a class or function accepts, in the order of their definitions.

    Those of a class include the ones that its `__init__` passes on to its bases, without those that it gives
    them itself.
    """
    found: dict[str, None] = {}
    given: set[str] = set()
    count = 0
    for function in _functions(called):
        parameters = _parameters(function)
        by_place = {parameter.name for parameter in parameters[: count + 1]} if count else set()
        for parameter in parameters:
            is_free = parameter.name not in given | by_place
            if is_free and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                found[parameter.name] = None
        count, names = _given_to_base(function)
        given |= names
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return [name for name in found if name not in _SELF_NAMES]


def named_in(message: str) -> object:
    """Return the class or method of Manim that a message names, such as `Mobject.next_to()`."""
    match = _CALLED.match(message)
    owner = vars(manim).get(match[1]) if match else None
    if match is None or match[2] in (None, "__init__"):
        return owner
    return getattr(owner, match[2], None)


def names_of(called: object, count: int) -> list[str]:
    """Return the names of the parameters that the first arguments of a call are for."""
    function = next(iter(_functions(called)), None)
    parameters = _parameters(function) if function is not None else []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [one.name for one in parameters if one.kind in by_place and one.name not in _SELF_NAMES]
    return names[:count]


def call_of(called: object) -> str | None:
    """Return how a class or function is called, such as `Dot(point=…, radius=…)`, in short."""
    name = getattr(called, "__name__", None)
    function = next(iter(_functions(called)), None)
    if name is None or function is None:
        return None
    parts: list[str] = []
    keywords: list[str] = []
    for parameter in _parameters(function):
        if parameter.name in _SELF_NAMES:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append(f"*{parameter.name}")
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords = [] if parts else ["name=value"]
        else:
            parts.append(parameter.name if parameter.default is parameter.empty else f"{parameter.name}=…")
    shown = parts[:8] + (["…"] if len(parts) > 8 else []) + keywords
    return f"{name}({', '.join(shown)})"


def _given_to_base(function: Callable[..., Any]) -> tuple[int, set[str]]:
    """Return how many arguments an `__init__` passes on by place, and the names of those that it names."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # without a source
        return 0, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__":
            count = sum(not isinstance(one, ast.Starred) for one in node.args)
            return count, {keyword.arg for keyword in node.keywords if keyword.arg is not None}
    return 0, set()


def _functions(called: object) -> list[Callable[..., Any]]:
    if isinstance(called, type):
        return [vars(base)["__init__"] for base in called.__mro__ if "__init__" in vars(base)]
    if isinstance(called, staticmethod | classmethod):
        called = called.__func__
    return [called] if callable(called) else []


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # without a signature, such as those of C
        return []
