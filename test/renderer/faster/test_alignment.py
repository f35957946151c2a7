"""Curves are aligned with one another as by Manim."""

import random
from collections.abc import Iterator
from typing import Any

import manim
import numpy as np
import pytest
from manim import VMobject
from manim.mobject.types import vectorized_mobject

from random_mobjects import random_points
from scene_renderer.faster import alignment


class _Loose(VMobject):
    """A class of a scene for which all points are equal."""

    def consider_points_equals(self, p0: Any, p1: Any) -> bool:
        return True


class _Whole(VMobject):
    """One that doesn't divide curves."""

    def insert_n_curves_to_point_list(self, n: int, points: Any) -> Any:
        return np.repeat(points[:4], 1 + n, axis=0)


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as patch:
        patch.setattr(VMobject, "align_points", alignment._manims_align)
        patch.setattr(VMobject, "insert_n_curves_to_point_list", alignment._manims_insert)
        patch.setattr(vectorized_mobject, "bezier_remap", alignment._manims_remap)
        patch.setattr(alignment, "_own", dict(alignment._own))
        yield patch


def _random_curve(chance: random.Random) -> Any:
    points = random_points(chance)
    for _ in range(chance.choice([0, 0, 1, 3])):  # points at the end of a part
        at = 4 * chance.randrange(len(points) // 4 + 1)
        near = points[max(0, at - 1)] + chance.choice([0, 0, 1e-7, 2e-6])
        points = np.concatenate([points[:at], np.tile(near, (4, 1)), points[at:]])
    vmobject: Any = chance.choice([VMobject] * 8 + [_Loose, _Whole])()
    vmobject.points = chance.choice([points, points, points, points[:1], points[:0], points[:5]])
    vmobject.tolerance_for_point_equality = chance.choice([1e-6, 1e-6, 0, 0.01, -1.0])
    vmobject.set_fill(chance.choice([[manim.RED, manim.BLUE], [manim.RED]]), 0.5)
    return vmobject


def _aligned(seed: int) -> Any:
    chance = random.Random(seed)
    one, other = _random_curve(chance), _random_curve(chance)
    try:
        assert one.align_points(other) is one
    except (IndexError, ValueError) as error:
        return str(error)
    return [(each.points.dtype, each.points.tobytes(), each.fill_rgbas.tobytes()) for each in (one, other)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seeds", [range(first, first + 50) for first in range(0, 1000, 50)])
def test_aligned_curves_have_the_same_bits(seeds: range, replaced: pytest.MonkeyPatch) -> None:
    """Also of classes that have methods of their own."""
    expected = [_aligned(seed) for seed in seeds]
    alignment.align_directly()
    assert [_aligned(seed) for seed in seeds] == expected


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_divided_curves_have_the_same_bits(count: int) -> None:
    """For each factor."""
    curves: Any = np.random.default_rng(count).uniform(-9, 9, (count, 4, 3))
    for number in (*range(count, 5 * count + 2), 300):
        for given in (curves, curves[::-1], curves.astype(np.float32), curves[:, :3], curves.tolist()):
            expected = alignment._manims_remap(given, number)
            assert alignment._remap(given, number).tobytes() == expected.tobytes()


@pytest.mark.parametrize("tolerance", [0.0, 1e-6, 0.5])
def test_points_are_near_as_for_numpy(tolerance: float) -> None:
    """Also those that are infinite or no numbers."""
    numbers = [0.0, 1.0, 1.0 + 1e-6, 1.00001, 1.5, -1.5, 1e300, -1e300, np.inf, -np.inf, np.nan]
    for number in numbers:
        for reference in numbers:
            points, point = [[number, 0.0, 0.0]], [reference, 0.0, 0.0]
            with np.errstate(invalid="ignore"):
                expected = np.allclose(np.array(points), np.array(point), atol=tolerance)
            assert alignment._are_equal(points, point, tolerance) == expected
