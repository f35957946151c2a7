"""Widths and heights are the same numbers as in Manim."""

import random
import struct
from typing import Any

import manim
import numpy as np
import pytest
from manim import Group, Mobject, VGroup, VMobject

from scene_renderer.faster import sizes

_MANIMS = Mobject.reduce_across_dimension


class _Wide(VMobject):
    """A class of a scene with a way of its own to measure."""

    def reduce_across_dimension(self, reduce_func: Any, dim: int) -> Any:
        return 9.0 if reduce_func is max else None


def _bits(value: Any) -> Any:
    return value if value is None else (type(value), struct.pack("d", value))


@pytest.mark.parametrize("seed", range(40))
def test_sizes_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit, also of zeros with signs, infinities and what is no number."""
    chance = random.Random(seed)
    numbers = chance.choice(
        [[0.0, -0.0], [1.5, -2.5, 0.1], [0.0, -0.0, float("nan"), 1.0], [float("inf"), -3.0]]
    )
    members: list[Any] = []
    for _ in range(chance.randint(1, 5)):
        member: Any = chance.choice([VMobject, VMobject, _Wide])()
        count = chance.choice([0, 1, 4, 40])
        points = np.array([chance.choice(numbers) for _ in range(3 * count)]).reshape(count, 3)
        member.points = points.astype(chance.choice([float, float, np.float32])) if count else points
        members.append(member)
    group: Any = chance.choice([VGroup, Group])(VGroup(*members[1:]), members[0])
    if chance.random() < 0.3:
        group.points = [[1, 2, 3]] if chance.random() < 0.1 else np.ones((1, 3))

    def measured() -> Any:
        found: list[Any] = []
        for dim in range(3):
            for function in (max, min, sum):
                try:
                    found.append(_bits(group.reduce_across_dimension(function, dim)))
                except TypeError as error:
                    found.append(str(error))
        return found

    with np.errstate(all="ignore"):
        expected = measured()
        monkeypatch.setattr(Mobject, "reduce_across_dimension", sizes._reduce_across_dimension)
        assert measured() == expected


def test_nothing_has_no_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mobject, "reduce_across_dimension", sizes._reduce_across_dimension)
    assert VGroup().reduce_across_dimension(max, 0) is None
    assert VGroup(VMobject()).height == 0
    for dim in (-1, 3):
        with pytest.raises(AssertionError):
            manim.Square().reduce_across_dimension(max, dim)
