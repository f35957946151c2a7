"""Closes the outlines of texts faster than Manim, with the same points.

Manim does it in a loop over all points of all characters, which the initialisers of `Text` and `MarkupText`
contain. They are compiled again so that this loop is passed over if the outlines could be closed here.
"""

import __future__

import ast
import inspect
import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt
from manim import MarkupText, Text
from manim.mobject.text import text_mobject

from ..replacing import replace

_FLOAT = np.dtype(np.float64)
_OUTER = "def outer(__class__, are_closed): return __init__"


def close_directly() -> None:
    """Replace the initialisers of both classes."""
    for kind in (Text, MarkupText):
        replace(kind, __init__=_compiled_again(kind))


def _compiled_again(kind: type[Text] | type[MarkupText]) -> Any:
    """Return the initialiser of a class, whose loop runs unless `_are_closed`. Error: `RuntimeError`."""
    lines, number = inspect.getsourcelines(kind.__init__)
    initialiser: Any = ast.parse(textwrap.dedent("".join(lines))).body[0]
    body = initialiser.body
    loops = [node for node in body if isinstance(node, ast.For) and ast.unparse(node.iter) == "self"]
    if len(loops) != 1:
        raise RuntimeError(
            f"{kind.__name__}.__init__ of Manim has {len(loops)} loops over characters, not one"
        )
    condition: Any = ast.copy_location(ast.parse("if not are_closed(self): pass").body[0], loops[0])
    condition.body = loops
    body[body.index(loops[0])] = condition
    outer: Any = ast.parse(_OUTER)
    outer.body[0].body.insert(0, ast.increment_lineno(initialiser, number - 1))
    flags = __future__.annotations.compiler_flag
    made: dict[str, Any] = {}
    exec(compile(outer, text_mobject.__file__, "exec", flags), vars(text_mobject), made)
    return made["outer"](kind, _are_closed)


def _are_closed(text: Text | MarkupText) -> bool:
    """Close the outlines of all characters by lines; return False if Manim must do it."""
    characters = [character for character in text if len(character.points)]
    if text.n_points_per_curve != 4 or text.dim != 3 or len(set(map(id, characters))) != len(characters):
        return False
    if not all(map(_has_curves, characters)):
        return False
    if characters:
        for character, points in zip(characters, _closed([each.points for each in characters]), strict=True):
            character.points = points
    return True


def _has_curves(mobject: Any) -> bool:
    points = mobject.points
    return (
        type(points) is np.ndarray
        and points.dtype == _FLOAT
        and points.shape[1:] == (3,)
        and len(points) % 4 == 0
    )


def _closed(outlines: list[npt.NDArray[np.float64]]) -> list[npt.NDArray[np.float64]]:
    """Return outlines with a line from the end of each part to its start, also if both are the same point."""
    curves = np.concatenate(outlines).reshape(-1, 4, 3)
    lasts = np.cumsum([len(outline) // 4 for outline in outlines]) - 1
    is_end = np.append((curves[:-1, 3] != curves[1:, 0]).any(axis=1), True)
    is_end[lasts] = True
    ends = np.flatnonzero(is_end)
    end = curves[ends, 3]
    start = curves[np.append(0, ends[:-1] + 1), 0]
    before = np.cumsum(is_end)  # the number of lines up to the end of each curve
    closed = np.empty((len(curves) + len(ends), 4, 3))
    closed[np.arange(len(curves)) + before - is_end] = curves
    closed[ends + before[ends]] = np.stack(
        [end, (end + end + start) / 3, (end + start + start) / 3, start], axis=1
    )
    pieces = np.split(closed, (lasts + before[lasts] + 1)[:-1])
    return [piece.reshape(-1, 3).copy() for piece in pieces]
