"""Computes the waves of `ApplyWave` for all points of a mobject at once, equal to the last bit.

Manim computes them point by point. The operations on numbers and their order are the same here.
"""

import platform
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt
from manim import ApplyWave
from manim.utils import rate_functions
from manim.utils.bezier import interpolate, inverse_interpolate
from manim.utils.simple_functions import sigmoid

_Floats = npt.NDArray[np.float64]
_NUMBERS = {float, np.float64, int}
_RIPPLES_MAX = 1000
# Of Manim's function `smooth`.
_INFLECTION = 10.0
_ERROR = sigmoid(-_INFLECTION / 2)
_RATE_FUNCTIONS = frozenset(value for value in vars(rate_functions).values() if type(value) is FunctionType)
# On other processors, NumPy computes `exp` of one number in another way than of several.
_IS_EXP_THE_SAME = platform.machine() == "x86_64"
_manims_init: Any = ApplyWave.__init__
_HOMOTOPY = next(
    code
    for code in _manims_init.__code__.co_consts
    if isinstance(code, CodeType) and code.co_name == "homotopy"
)


def nudged(homotopy: Any, points: _Floats, t: Any) -> _Floats | None:
    """Return where a wave moves points at a time; None if Manim must compute it, or if it is no wave."""
    if getattr(homotopy, "__code__", None) is not _HOMOTOPY or type(t) not in _NUMBERS:
        return None
    settings = _nonlocals(homotopy)
    vector, width, x_min, x_max = (settings[name] for name in ("vect", "time_width", "x_min", "x_max"))
    wave = _nonlocals(settings["wave"])
    function, ripples = wave["wave_func"], wave["ripples"]
    if (
        function not in _RATE_FUNCTIONS
        or type(ripples) is not int
        or not 0 < ripples <= _RIPPLES_MAX
        or not {type(width), type(x_min), type(x_max)} <= _NUMBERS
        or np.shape(vector) != (3,)
    ):
        return None
    upper = interpolate(0, 1 + width, t)
    lower = upper - width
    with np.errstate(all="ignore"):
        phases = 1 - inverse_interpolate(lower, upper, inverse_interpolate(x_min, x_max, points[:, 0]))
    if not np.isfinite(phases).all():
        return None
    heights = np.zeros((len(points), 1))
    on_wave = np.flatnonzero((phases > 0) & (phases < 1))
    if len(on_wave):
        found = _heights(phases[on_wave], function, ripples)
        if found is None:
            return None
        heights[on_wave, 0] = found
    moved: _Floats = points + heights * vector
    return moved


def _nonlocals(function: Any) -> dict[str, Any]:
    cells = (cell.cell_contents for cell in function.__closure__)
    return dict(zip(function.__code__.co_freevars, cells, strict=True))


def _heights(t: _Floats, function: Any, ripples: int) -> _Floats | None:
    """Return the heights of a wave at times between 0 and 1."""
    count = ripples * 2
    number = np.trunc(t * count)
    is_first, is_last = number == 0, number == count - 1
    start = np.where(is_first, 0, number / count)
    factor: Any = count
    if ripples > 1:
        is_between = ~(is_first | is_last)
        number = np.trunc((number - 1) / 2)
        start = np.where(is_between, (2 * number + 1) / count, start)
        factor = np.where(is_between, ripples, count)
    values = _values(function, (t - start) * factor)
    if values is None:
        return None
    heights = np.where(is_first, values, (1 - values) * (2 * (ripples % 2) - 1))
    if ripples > 1:
        return np.where(is_between, (1 - 2 * values) * (1 - 2 * (number % 2)), heights)
    return heights


def _values(function: Any, times: _Floats) -> _Floats | None:
    """Return the values of one of Manim's rate functions."""
    if function is not rate_functions.smooth or not _IS_EXP_THE_SAME:
        values = list(map(function, times))
        return np.array(values, dtype=np.float64) if set(map(type, values)) <= _NUMBERS else None
    logistic: Any = sigmoid  # Manim declares it for single numbers.
    inside: Any = (logistic(_INFLECTION * (times - 0.5)) - _ERROR) / (1 - 2 * _ERROR)
    inside = np.where(inside < 0, 0, inside)
    inside = np.where(inside > 1, 1, inside)
    return np.where(times < 0, 0, np.where(times > 1, 1, inside))
