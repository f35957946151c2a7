"""The replacements of parts of Manim give the same results as Manim's own functions."""

import random
from collections.abc import Callable
from typing import Any

import manim
import numpy as np
import pytest
from manim import Group, Mobject, VMobject
from manim.camera.camera import Camera
from manim.camera.three_d_camera import ThreeDCamera

from scene_renderer import drawing, families, interpolation

_MANIMS_FAMILY = Mobject.get_family
_MANIMS_COLOR = VMobject.interpolate_color
_MANIMS_PATH = Camera.set_cairo_context_path
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


class _Recorder:
    """Stands for a Cairo context, and keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *numbers: self.calls.append((name, *(float(number).hex() for number in numbers)))


class _Lenient(VMobject):
    """A class of a scene for which all points are equal."""

    def consider_points_equals_2d(self, p0: Any, p1: Any) -> bool:
        return True


def _random_points(chance: random.Random) -> "np.ndarray[Any, Any]":
    """Return curves of which some meet exactly, some nearly, some not, and some with odd coordinates."""
    count = chance.choice([0, 1, 3, 4, 5, 8, 40, 61, 400, 1500])
    points = np.array([[chance.uniform(-8, 8) for _ in range(3)] for _ in range(count)]).reshape(count, 3)
    for at in range(4, count, 4):
        gap = chance.choice([0, 0, 0, 1e-7, 9e-7, 1e-6, 1.1e-6, 8e-5, 1])
        points[at] = points[at - 1] + [chance.choice([gap, -gap]), chance.choice([gap, 0]), 1]
    if count > 0 and chance.random() < 0.5:
        points[count - 1] = points[0] + chance.choice([0, 1e-6, 1])
    if count > 0 and chance.random() < 0.1:
        points[chance.randrange(count)] = chance.choice([np.nan, np.inf, -np.inf])
    return points.astype(chance.choice([np.float64] * 5 + [np.float32]))


@pytest.mark.parametrize("seed", range(300))
def test_paths_are_given_to_cairo_with_the_same_calls(seed: int) -> None:
    """For points that meet exactly, nearly and not at all, and for classes with rules of their own."""
    chance = random.Random(seed)
    vmobject = chance.choice([VMobject, VMobject, VMobject, _Lenient])()
    vmobject.points = _random_points(chance)
    vmobject.tolerance_for_point_equality = chance.choice([1e-6, 1e-6, 0, 0.0, 0.01, -1.0])
    camera = chance.choice([Camera, ThreeDCamera])()
    expected: Any = _Recorder()
    found: Any = _Recorder()
    assert _MANIMS_PATH(camera, expected, vmobject) is camera
    assert drawing._set_path(camera, found, vmobject) is camera
    assert found.calls == expected.calls


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _assert_equal(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    assert np.asarray(found).dtype == np.asarray(expected).dtype
