"""Copies mobjects faster than Manim, with equal results.

Animations copy each mobject several times, and numbers that change are copies of digits. Manim copies all
attributes with `copy.deepcopy`. The native module copies the types that mobjects mostly consist of directly,
and all others by `copy.deepcopy` with the same memo.
"""

import copy
from typing import Any

from manim import CapStyleType, LineJointType, ManimColor, Mobject, VMobjectFromSVGPath

import scenepress_native

from ..job.work_times import stopwatch
from ..replacing import replace

_STYLES = {CapStyleType, LineJointType}


def copy_directly() -> None:
    """Replace the deep copy of Manim's and the scene's mobjects."""
    scenepress_native.prepare_copies(_copy_other, _copy_mobject, Mobject, VMobjectFromSVGPath, ManimColor)
    replace(Mobject, __deepcopy__=_copy_mobject)


def _copy_mobject(self: Mobject, clone_from_id: dict[int, Any]) -> Mobject:
    """Return a deep copy, as Manim's method does."""
    if clone_from_id:
        return scenepress_native.copy_mobject(self, clone_from_id)
    with stopwatch.during("copy"):
        return scenepress_native.copy_mobject(self, clone_from_id)


def _copy_other(value: Any, clone_from_id: dict[int, Any]) -> Any:
    """Return a deep copy of what the native module doesn't know."""
    # The members of an enumeration are copies of themselves.
    return value if type(value) in _STYLES else copy.deepcopy(value, clone_from_id)
