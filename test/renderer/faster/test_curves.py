"""Curves are measured as by Manim."""

import random
from typing import Any

import manim
import numpy as np
import pytest
from manim import VMobject

from scene_renderer.faster import curves


class _Straight(VMobject):
    """A class of a scene with curves of its own."""

    def get_nth_curve_function(self, n: int) -> Any:
        return lambda t: self.points[4 * n] * (1 - t) + self.points[4 * n + 3] * t


def _mobjects() -> list[Any]:
    chance = np.random.default_rng(3)
    mobjects = [
        *(manim.VMobject().set_points(chance.uniform(-8, 8, (4 * count, 3))) for count in range(8)),
        *(manim.VMobject().set_points(np.repeat(chance.normal(size=(2, 3)), 4, axis=0)) for _ in range(3)),
        manim.Circle(),
        manim.Arrow().tip,
        _Straight().set_points(chance.uniform(-8, 8, (8, 3))),
    ]
    for kind in (np.float32, np.int64):
        mobjects.append(VMobject())
        mobjects[-1].points = chance.uniform(-9, 9, (8, 3)).astype(kind)
    mobjects.append(VMobject())
    mobjects[-1].points = np.full((4, 3), np.inf)
    mobjects.append(VMobject())
    mobjects[-1].points = chance.uniform(-9, 9, (8, 3))[::-1]
    mobjects.append(VMobject())
    mobjects[-1].points = chance.uniform(-9, 9, (7, 3))
    return mobjects


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("mobject", _mobjects(), ids=repr)
def test_pieces_of_curves_have_the_same_lengths(mobject: Any) -> None:
    for n in range(mobject.get_num_curves() + 1):
        for count in (None, 10, 2, 1, 0, 37, True):
            assert _result(curves._get_nth_curve_length_pieces, mobject, n, count) == _result(
                curves._manims_own, mobject, n, count
            )


def _result(measure: Any, *arguments: Any) -> Any:
    try:
        pieces = measure(*arguments)
    except (AssertionError, IndexError, ValueError) as error:
        return str(error)
    return pieces.dtype, pieces.shape, pieces.tobytes()


@pytest.mark.deep
def test_points_at_a_proportion_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    shapes = [manim.Star(), manim.Arrow(), manim.Text("ab")[0], manim.FunctionGraph(np.sin)]
    proportions = [0, 1, 0.5, *(chance.random() for _ in range(20))]

    def found() -> list[Any]:
        points = [shape.point_from_proportion(alpha).tobytes() for shape in shapes for alpha in proportions]
        return [*points, *(shape.get_arc_length() for shape in shapes)]

    expected = found()
    monkeypatch.setattr(VMobject, "get_nth_curve_length_pieces", curves._get_nth_curve_length_pieces)
    assert found() == expected
