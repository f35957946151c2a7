"""Makes colours and gives them to mobjects with fewer steps than Manim, with the same numbers.

Manim does it for each character of a text or formula about a dozen times, and in each frame while it is
written.
"""

from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
from manim import BLACK, ManimColor, VMobject

from ..replacing import replace

_Floats = npt.NDArray[np.float64]

_manims_init = ManimColor.__init__
_manims_equal = ManimColor.__eq__
_manims_update = VMobject.update_rgbas_array
_generate = VMobject.generate_rgbas_array
_get_sheen_factor = VMobject.get_sheen_factor
_TEXTS_MAX = 1024


def colour_directly() -> None:
    """Replace the functions in Manim's and the scene's classes."""
    replace(ManimColor, __init__=_init, __eq__=_is_equal)
    replace(VMobject, update_rgbas_array=_update_rgbas_array)


def _init(self: ManimColor, value: Any, alpha: float = 1.0) -> None:
    """Make a colour from any value that Manim accepts as one."""
    kind = type(value)
    if kind is np.ndarray and value.dtype == np.float64 and value.shape == (3,) and type(alpha) is float:
        internal = np.empty(4)
        internal[:3] = value
        internal[3] = alpha
        self._internal_value = internal
    elif kind is str and type(alpha) is float:
        self._internal_value = _parsed(value, alpha).copy()
    else:
        _manims_init(self, value, alpha)


@lru_cache(_TEXTS_MAX)
def _parsed(text: str, alpha: float) -> _Floats:
    colour = ManimColor.__new__(ManimColor)
    _manims_init(colour, text, alpha)
    return colour._internal_value


def _is_equal(self: ManimColor, other: object) -> bool:
    """Compare as `np.allclose` does."""
    if type(self) is not ManimColor or type(other) is not ManimColor:
        return _manims_equal(self, other)
    return all(
        one == another or (isfinite(another) and abs(one - another) <= 1e-8 + 1e-5 * abs(another))
        for one, another in zip(self._internal_value.tolist(), other._internal_value.tolist(), strict=True)
    )


def _update_rgbas_array(self: Any, array_name: str, color: Any = None, opacity: Any = None) -> Any:
    """Set one colour, one opacity, or both; None leaves them as they are."""
    given = color, opacity
    if type(color) is list and len(color) == 1:  # as when a mobject takes the style of another
        color = BLACK if color[0] is None else color[0]
    if type(opacity) is np.ndarray and opacity.shape == (1,) and opacity.dtype == np.float64:
        opacity = opacity[0]
    kind = type(self)
    if (
        not (color is None or type(color) is ManimColor)
        or not (opacity is None or type(opacity) in (float, int, np.float64))
        or kind.generate_rgbas_array is not _generate
        or kind.get_sheen_factor is not _get_sheen_factor
        or self.sheen_factor != 0
    ):
        return _manims_update(self, array_name, *given)
    rgbas = self.__dict__.get(array_name)
    if rgbas is None:
        rgbas = np.empty((1, 4))
        rgbas[0, :3] = (BLACK if color is None else color)._internal_value[:3]
        rgbas[0, 3] = 0.0 if opacity is None else opacity
        setattr(self, array_name, rgbas)
        return self
    if len(rgbas) == 0:
        return _manims_update(self, array_name, *given)
    if color is not None:
        rgbas[:, :3] = color._internal_value[:3]
    if opacity is not None:
        rgbas[:, 3] = opacity
    return self
