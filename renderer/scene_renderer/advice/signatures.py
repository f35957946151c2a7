"""The arguments that classes and functions of Manim accept."""

import inspect
from collections.abc import Callable
from typing import Any

_SELF_NAMES = {"self", "cls"}


def keywords_of(called: object) -> list[str]:
    """Return the keyword arguments that a class or function accepts, in the order of their definitions.

    Those of a class include the ones that its `__init__` passes on to its bases.
    """
    found: dict[str, None] = {}
    for function in _functions(called):
        parameters = _parameters(function)
        for parameter in parameters:
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                found[parameter.name] = None
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    return [name for name in found if name not in _SELF_NAMES]


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
