"""The replacements of parts of Manim give the same results as Manim's own functions."""

import random
from typing import Any

import manim
import numpy as np
import pytest
from manim import Group, Mobject, VMobject

from scene_renderer import families, interpolation

_MANIMS_FAMILY = Mobject.get_family
_MANIMS_COLOR = VMobject.interpolate_color
_ATTRIBUTES = [
    "fill_rgbas",
    "stroke_rgbas",
    "background_stroke_rgbas",
    "stroke_width",
    "background_stroke_width",
    "sheen_direction",
    "sheen_factor",
]


@pytest.mark.parametrize("seed", range(200))
def test_families_have_the_same_members_in_the_same_order(seed: int) -> None:
    """Also where a mobject is in several groups, or in itself."""
    chance = random.Random(seed)
    mobjects: list[Mobject] = [Mobject() for _ in range(chance.randint(1, 12))]
    shared = chance.choice([0, 0, 0.2])
    for number, mobject in enumerate(mobjects[1:], start=1):
        mobjects[chance.randrange(number)].submobjects.append(mobject)
        if chance.random() < shared:
            chance.choice(mobjects).submobjects.append(mobject)
    for mobject in mobjects:
        assert families._get_family(mobject) == _MANIMS_FAMILY(mobject)


def test_families_of_groups() -> None:
    """Groups in a tuple of submobjects, too."""
    group = Group(manim.VGroup(manim.Square(), manim.Dot()), manim.Star())
    group.submobjects = tuple(group.submobjects)  # type: ignore[assignment]
    assert families._get_family(group) == _MANIMS_FAMILY(group)


@pytest.mark.parametrize("alpha", [0, 0.0, 1e-9, 0.1, 1 / 3, 0.5, 0.999, 1, 1.0, 1.5, -0.5, np.float64(0.7)])
def test_colours_are_interpolated_to_the_same_bits(alpha: float) -> None:
    """For mobjects with one colour and with gradients, at every alpha that a rate function can give."""
    first = manim.Square(color=manim.RED, fill_opacity=0.3, stroke_width=2, sheen_factor=0.4)
    second = manim.Circle(color=manim.BLUE, fill_opacity=0.9, stroke_width=7.5)
    second.set_background_stroke(color=manim.GREEN, width=3)
    gradient = manim.Square().set_color_by_gradient(manim.RED, manim.GREEN, manim.BLUE)
    for one, other in [(first, second), (second, first), (first, first), (gradient, gradient.copy())]:
        expected, found = VMobject(), VMobject()
        assert _MANIMS_COLOR(expected, one, other, alpha) is expected
        assert interpolation._interpolate_color(found, one, other, alpha) is found
        for name in _ATTRIBUTES:
            _assert_equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name) is not getattr(other, name) or not _is_array(getattr(other, name))


def test_colours_that_do_not_fit_fail_alike() -> None:
    """An error of a scene is the same."""
    one, other = VMobject(), VMobject()
    other.fill_rgbas = np.zeros((3, 4))
    one.fill_rgbas = np.zeros((2, 4))
    with pytest.raises(ValueError, match="shape") as expected:
        _MANIMS_COLOR(VMobject(), one, other, 0.5)
    with pytest.raises(ValueError, match="shape") as found:
        interpolation._interpolate_color(VMobject(), one, other, 0.5)
    assert str(found.value) == str(expected.value)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _assert_equal(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    assert np.asarray(found).dtype == np.asarray(expected).dtype
