"""Copies mobjects faster than Manim, with equal results.

Animations copy each mobject several times. Manim copies all attributes with `copy.deepcopy`. Here the types
that mobjects mostly consist of are copied directly, and all others by `copy.deepcopy` with the same memo. A
copy of a text of 22 letters takes 1 ms instead of 15.
"""

import copy
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import numpy as np
from manim import ManimColor, Mobject, VMobjectFromSVGPath

from ..job.work_times import stopwatch
from ..replacing import replace

_Memo = dict[int, Any]

_IMMUTABLE = frozenset(
    {bool, int, float, complex, str, bytes, NoneType, FunctionType, BuiltinFunctionType}
    | {np.bool_, np.int64, np.float32, np.float64}
)


def copy_directly() -> None:
    """Replace the deep copy of Manim's and the scene's mobjects."""
    replace(Mobject, __deepcopy__=_copy_mobject)


def _copy_mobject(self: Mobject, clone_from_id: _Memo) -> Mobject:
    """Return a deep copy, as Manim's method does."""
    if clone_from_id:
        return _copy_into(self, clone_from_id)
    with stopwatch.during("copy"):
        return _copy_into(self, clone_from_id)


def _copy_into(self: Mobject, clone_from_id: _Memo) -> Mobject:
    result = type(self).__new__(type(self))
    clone_from_id[id(self)] = result
    if isinstance(self, VMobjectFromSVGPath) and "path_obj" in self.__dict__:
        # Only read, when the points are made. Copying it would take longer than all the rest.
        clone_from_id[id(self.path_obj)] = self.path_obj
    for name, value in self.__dict__.items():
        setattr(result, name, _copy(value, clone_from_id))
    result.original_id = str(id(self))
    return result


def _copy(value: Any, memo: _Memo) -> Any:
    kind = type(value)
    if kind in _IMMUTABLE:
        return value
    copier = _COPIERS.get(kind)
    if copier is None:
        return copy.deepcopy(value, memo)
    known = memo.get(id(value))
    if known is not None:
        return known
    # As `copy.deepcopy`: while the memo exists, no other object may get the id of this one.
    memo.setdefault(id(memo), []).append(value)
    return copier(value, memo)


def _copy_array(value: np.ndarray[Any, Any], memo: _Memo) -> np.ndarray[Any, Any]:
    result = memo[id(value)] = value.__deepcopy__(memo)
    return result


def _copy_list(value: list[Any], memo: _Memo) -> list[Any]:
    result: list[Any] = []
    memo[id(value)] = result
    for item in value:
        result.append(_copy(item, memo))
    return result


def _copy_dict(value: dict[Any, Any], memo: _Memo) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    memo[id(value)] = result
    for key, item in value.items():
        result[_copy(key, memo)] = _copy(item, memo)
    return result


def _copy_color(value: ManimColor, memo: _Memo) -> ManimColor:
    result = memo[id(value)] = ManimColor.__new__(ManimColor)
    for name, item in value.__dict__.items():
        result.__dict__[name] = _copy(item, memo)
    return result


_COPIERS: dict[type, Callable[[Any, _Memo], Any]] = {
    np.ndarray: _copy_array,
    list: _copy_list,
    dict: _copy_dict,
    ManimColor: _copy_color,
}
