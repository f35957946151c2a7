"""Curves are divided and made smooth as by Manim."""

import random
from typing import Any

import manim
import numpy as np
import pytest
from manim import VMobject
from manim.utils import bezier

import scenepress_native
from random_mobjects import random_points
from scene_renderer.faster import smoothing


def _result(function: Any, *arguments: Any) -> Any:
    try:
        found = function(*arguments)
    except (IndexError, ValueError) as error:
        return str(error)
    return [(part.dtype, part.shape, part.tobytes()) for part in found]


@pytest.mark.parametrize("count", [3, 4, 5, 6, 17, 300, 299, 2])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_handles_have_the_same_bits(count: int, kind: Any) -> None:
    anchors = np.random.default_rng(count).uniform(-9, 9, (count, 3)).astype(kind)
    for points in (anchors, anchors[::-1], anchors[:, ::-1], anchors[:, :2], anchors.tolist()):
        assert _result(smoothing._handles, points) == _result(smoothing._manims_own, points)


class _Loose(VMobject):
    """A class of a scene for which all points are equal."""

    def consider_points_equals(self, p0: Any, p1: Any) -> bool:
        return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(200))
def test_curves_have_the_same_parts(seed: int) -> None:
    chance = random.Random(seed)
    vmobject = chance.choice([VMobject, VMobject, VMobject, _Loose])()
    vmobject.tolerance_for_point_equality = chance.choice([1e-6, 1e-6, 0, 0.01, -1.0])
    points = random_points(chance)
    for part in (points, points[:, :2], points[:7], points[:3], points[:0]):
        assert _result(smoothing._subpaths, vmobject, part) == _result(
            smoothing._manims_subpaths, vmobject, part
        )


def test_parts_share_the_points() -> None:
    """A change of one changes the mobject, as in Manim."""
    points = np.arange(24.0).reshape(8, 3)
    parts = smoothing._subpaths(VMobject(), points)
    assert len(parts) == 2
    parts[0][0] = 9
    assert (points[0] == 9).all()


def test_graphs_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def graph() -> bytes:
        curve = manim.Axes().plot(lambda x: 1 / (x + 0.05), discontinuities=[-0.05], x_range=[-3, 3])
        outline = manim.VMobject().set_points_smoothly([*np.eye(3), *(2 * np.eye(3)), np.zeros(3)])
        return bytes(curve.points.tobytes() + outline.points.tobytes())

    expected = graph()
    monkeypatch.setattr(bezier, "get_smooth_open_cubic_bezier_handle_points", smoothing._handles)
    monkeypatch.setattr(VMobject, "get_subpaths_from_points", smoothing._subpaths)
    assert graph() == expected


def test_misuse_is_refused() -> None:
    rows, factors, terms = np.ones((5, 3)), np.ones(4), np.ones((3, 3))
    scenepress_native.substitute_forward(rows, factors, terms)
    for arguments in (
        (rows, factors[:3], terms),
        (rows, factors, terms[:2]),
        (rows, factors, np.ones((3, 2))),
        (rows[::2], factors, terms),
        (rows.astype(int), factors, terms),
    ):
        with pytest.raises(TypeError):
            scenepress_native.substitute_forward(*arguments)
    with pytest.raises(TypeError):
        scenepress_native.substitute_back(rows, factors[::2])
