"""Calls the updaters of mobjects faster than Manim, in the same order.

Manim visits all mobjects in each frame, and animated ones several times, with one call in Python for each. It
also examines the signature of each updater.
"""

import inspect
from types import CodeType, FunctionType, MethodType
from typing import Any

from manim import Mobject

import scenepress_native

from ..replacing import replace

_manims_own = Mobject.update
_DT = "dt"


def update_directly() -> None:
    """Replace the updates of Manim's and the scene's mobjects."""
    replace(Mobject, update=_update)


def _update(self: Mobject, dt: float = 0, recursive: bool = True) -> Any:
    """Call the updaters of a mobject and of those in it."""
    if recursive is True:
        return scenepress_native.update(self, dt, _call, _update)
    return _manims_own(self, dt, recursive)


def _call(updater: Any, mobject: Mobject, dt: float) -> None:
    if takes_dt(updater):
        updater(mobject, dt)
    else:
        updater(mobject)


def takes_dt(updater: Any) -> bool:
    """Whether a parameter of an updater is named ``dt``."""
    kind = type(updater)
    if kind is FunctionType and not updater.__dict__:
        return _DT in _parameters(updater.__code__)
    if kind is MethodType:
        function = updater.__func__
        if type(function) is FunctionType and not function.__dict__ and function.__code__.co_argcount > 0:
            return _DT in _parameters(function.__code__)[1:]
    return _DT in inspect.signature(updater).parameters


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]
