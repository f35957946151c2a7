"""The replacements of parts of Manim give the same results as Manim's own functions."""

import copy
import random
import re
from typing import Any

import manim
import numpy as np
import pytest
from manim import Group, Mobject, VMobject
from manim.camera.camera import Camera
from manim.camera.three_d_camera import ThreeDCamera
from manim.utils.paths import path_along_arc, path_along_circles, straight_path
from manim.utils.simple_functions import sigmoid

import scenepress_native
from random_mobjects import drawn, random_camera, random_vmobject, replace_drawing
from scene_renderer.faster import colours, drawing, families, interpolation, rotations

_MANIMS_FAMILY = Mobject.get_family
_MANIMS_COLOR = VMobject.interpolate_color
_MANIMS_COLOUR = manim.ManimColor.__init__
_MANIMS_EQUAL = manim.ManimColor.__eq__
_MANIMS_UPDATE = VMobject.update_rgbas_array
_MANIMS_MEMBERS = Mobject.family_members_with_points
_MANIMS_BOUNDARY = VMobject.get_points_defining_boundary
_MANIMS_INTERPOLATE = Mobject.interpolate
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
    group.submobjects = tuple(group.submobjects)  # type: ignore[assignment] # as scenes can
    assert families._get_family(group) == _MANIMS_FAMILY(group)


class _Hidden(VMobject):
    """A class of a scene that counts no points."""

    def get_num_points(self) -> int:
        return 0


def test_members_with_points_are_the_same() -> None:
    """For mobjects of all kinds, and a class that counts by itself."""
    groups = [manim.Axes(), Group(manim.VGroup(), manim.Dot(), Mobject()), manim.ValueTracker(1), VMobject()]
    groups += [Group(manim.Square(), _Hidden().set_points(np.ones((4, 3)))), manim.PGroup(manim.Point())]
    for group in groups:
        assert families._family_members_with_points(group) == _MANIMS_MEMBERS(group)


def test_rate_functions_give_the_same_bits() -> None:
    """Numbers of all types, again and again."""
    values = [
        0,
        0.0,
        -0.0,
        0.3,
        1,
        -7.5,
        np.float64(0.3),
        np.float32(0.3),
        np.array([0.1, 0.2]),
        float("nan"),
    ]
    for value in values * 2:
        _assert_equal(interpolation._sigmoid(value), sigmoid(value))  # type: ignore[arg-type] # arrays, too


def test_kinds_of_mobjects_are_the_same() -> None:
    """Each camera keeps its own table of methods, also a copy of another one."""
    first = Camera(pixel_width=8, pixel_height=8)
    second = copy.copy(first)
    camera: Any
    for camera in (first, second, copy.copy(second)):
        for mobject in (manim.Dot(), manim.Point(), manim.ImageMobject(np.zeros((2, 2))), Mobject(), Group()):
            kind = drawing._type_or_raise(camera, mobject)
            assert kind is drawing._manims_type(Camera(pixel_width=8, pixel_height=8), mobject)
        assert camera.display_funcs[VMobject].__self__ is camera
        camera = copy.copy(camera)
        drawing._type_or_raise(camera, manim.Dot())
        assert camera.display_funcs[VMobject].__self__ is camera
    with pytest.raises(TypeError):
        drawing._type_or_raise(first, object())


class _Counted(Mobject):
    """A class of a scene that lists itself twice."""

    def _iter_family(self, active_path: Any) -> Any:
        yield self
        yield from super()._iter_family(active_path)


class _Cornered(VMobject):
    """A class of a scene with one end only."""

    def get_anchors(self) -> Any:
        return [self.points[0]]


def test_classes_with_lists_of_their_own() -> None:
    """Their methods are used, also where they are in another group."""
    counted = _Counted()
    group = Group(manim.Square(), counted)
    assert families._get_family(group) == _MANIMS_FAMILY(group)
    corners: Any = manim.VGroup(manim.Square(), _Cornered().set_points(np.ones((4, 3))))
    assert families._get_points_defining_boundary(corners).shape == (9, 3)


class _Changing(VMobject):
    """Changes the list that it is in, and an array of another one, when its points are asked for."""

    around: list[Any]
    other: Any

    @property
    def points(self) -> Any:
        if hasattr(self, "around"):
            del self.around[1:]
            self.other.resize((400, 3), refcheck=False)
        return self._points

    @points.setter
    def points(self, points: Any) -> None:
        self._points = points


@pytest.mark.parametrize("change", [scenepress_native.with_points, scenepress_native.get_anchors])
def test_lists_and_arrays_may_change_meanwhile(change: Any) -> None:
    method = VMobject.get_num_points if change is scenepress_native.with_points else families._get_anchors
    first, changing = manim.Square(), _Changing().set_points(np.ones((4, 3)))
    first.points = np.ones((4, 3))
    around = [first, changing, *(manim.Square() for _ in range(50))]
    changing.around, changing.other = around, first.points
    found = change(around, method)
    assert found is None if change is scenepress_native.get_anchors else len(found) == 2


@pytest.mark.parametrize("seed", range(100))
def test_ends_of_curves_are_the_same(seed: int) -> None:
    """From which Manim computes sizes and places."""
    chance = random.Random(seed)
    group = manim.VGroup(*[random_vmobject(chance) for _ in range(chance.choice([0, 1, 4]))])
    try:
        expected = _MANIMS_BOUNDARY(group)
    except ValueError as error:  # a part of a curve
        with pytest.raises(ValueError, match=re.escape(str(error))):
            families._get_points_defining_boundary(group)
        return
    _assert_equal(families._get_points_defining_boundary(group), expected)


@pytest.mark.parametrize("alpha", [0, 0.0, 0.3, 1, 1.0, 1.2, np.float64(0.7), np.float32(0.1)])
def test_points_are_interpolated_to_the_same_bits(alpha: float) -> None:
    """On a straight path and on others."""
    one, other = manim.Circle(), manim.Square().insert_n_curves(4)
    one.points = one.points[: len(other.points)]
    for path in (straight_path(), path_along_arc(1.0), path_along_circles(0.5, np.ones(3))):
        for start, end in ((one, other), (other, one)):
            expected, found = VMobject(), VMobject()
            _MANIMS_INTERPOLATE(expected, start, end, alpha, path)
            interpolation._interpolate(found, start, end, alpha, path)
            _assert_equal(found.points, expected.points)
    expected, found = VMobject(), VMobject()
    for vmobject in (one, other):
        vmobject.points = np.array([[1, 2, 3], [4, 5, 6]])
    _MANIMS_INTERPOLATE(expected, one, other, alpha)
    interpolation._interpolate(found, one, other, alpha)
    _assert_equal(found.points, expected.points)


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
        assert interpolation._interpolate_style(found, one, other, alpha) is found
        for name in _ATTRIBUTES:
            _assert_equal(getattr(found, name), getattr(expected, name))
            assert getattr(found, name) is not getattr(other, name) or not _is_array(getattr(other, name))


def test_colours_that_do_not_fit_give_the_same_error_as_manim() -> None:
    """An error of a scene is the same."""
    one, other = VMobject(), VMobject()
    other.fill_rgbas = np.zeros((3, 4))
    one.fill_rgbas = np.zeros((2, 4))
    with pytest.raises(ValueError, match="shape") as expected:
        _MANIMS_COLOR(VMobject(), one, other, 0.5)
    with pytest.raises(ValueError, match="shape") as found:
        interpolation._interpolate_style(VMobject(), one, other, 0.5)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("alpha", [1.0, 0.25, 1, np.float64(0.5)])
@pytest.mark.parametrize(
    "value",
    [
        *["#abc", "#FC6255", "0x00ff00", "#12345678", "red", "no colour", "#12"],
        *[manim.RED, None, 255, (1.0, 0.5, 0.0), [1, 2, 3], np.array([1, 2, 3]), np.array([1.0, 0.5])],
        *[np.array([0.1, 0.2, 0.3]), np.arange(6.0)[::2] / 9, np.array([0.1, 0.2, 0.3, 0.4]), object()],
    ],
)
def test_colours_are_the_same(value: Any, alpha: Any) -> None:
    """For texts, arrays and all else, and with the same errors."""

    def made(init: Any) -> Any:
        colour = manim.ManimColor.__new__(manim.ManimColor)
        try:
            init(colour, value, alpha)
        except (TypeError, ValueError) as error:
            return str(error)
        return colour._internal_value

    _assert_equal(made(colours._init), made(_MANIMS_COLOUR))
    if isinstance(value, str) and not isinstance(found := made(colours._init), str):
        found[:] = 0  # no other colour changes
        _assert_equal(made(colours._init), made(_MANIMS_COLOUR))


class _Pale(VMobject):
    """A class of a scene that makes colours itself."""

    def generate_rgbas_array(self, color: Any, opacity: Any) -> Any:
        return super().generate_rgbas_array(color, opacity) / 2


@pytest.mark.parametrize("seed", range(20))
def test_comparing_colours_gives_the_same_result_as_manim(seed: int) -> None:
    """Nearly equal ones, too."""
    chance = random.Random(seed)
    values = [0.0, 1.0, 0.5, 1e-9, float("inf"), float("nan"), chance.random()]
    for _ in range(50):
        one, other = manim.ManimColor("#000000"), manim.ManimColor("#000000")
        one._internal_value = np.array([chance.choice(values) for _ in range(4)])
        other._internal_value = one._internal_value * chance.choice([1, 1 + 1e-6, 1 + 1e-5, 1 + 2e-5])
        with np.errstate(invalid="ignore"):
            assert colours._is_equal(one, other) == _MANIMS_EQUAL(one, other)
    with pytest.raises(TypeError):
        colours._is_equal(manim.ManimColor("#000000"), "black")


@pytest.mark.parametrize("seed", range(100))
def test_giving_colours_has_the_same_result_as_manim(seed: int) -> None:
    """One and several, with and without opacity, where there was none, one or a gradient."""
    chance = random.Random(seed)
    kind = chance.choice([VMobject, VMobject, VMobject, _Pale])
    expected: Any = kind()
    expected.sheen_factor = chance.choice([0, 0, 0.0, 0.5])
    found = expected.copy()
    for _ in range(6):
        name = chance.choice(["fill_rgbas", "stroke_rgbas", "new_rgbas"])
        several = [manim.RED, manim.BLUE, manim.GREEN]
        values: list[Any] = [None, manim.RED, manim.BLUE, "#ff0000"]
        values += [several, [manim.RED], [None], (manim.RED,), [manim.HSV((0.2, 0.3, 0.4))]]
        arguments: Any = (
            name,
            chance.choice(values),
            chance.choice([None, 0, 1, 0.4, np.float64(0.7), [0.1, 0.2], np.array([0.3]), np.array([1])]),
        )
        _MANIMS_UPDATE(expected, *arguments)
        assert colours._update_rgbas_array(found, *arguments) is found
        _assert_equal(getattr(found, name), getattr(expected, name))


def test_rotations_are_the_same() -> None:
    """Also when a matrix is used again, after someone has changed the first one."""
    chance = np.random.default_rng(1)
    vectors = [*chance.uniform(-4, 4, (50, 3)), np.zeros(3), np.array([0.0, 0.0, np.pi]), [0, 0, 1.0]]
    for vector in vectors * 2:
        found = rotations._Rotation.from_rotvec(vector).as_matrix()
        expected = rotations._manims_own.from_rotvec(vector).as_matrix()
        _assert_equal(found, expected)
        assert found.strides == expected.strides
        found[:] = 0


@pytest.mark.parametrize("angle", [0.0, 1, manim.PI, -0.3])
@pytest.mark.parametrize("axis", [manim.OUT, manim.RIGHT, (1, 2, 3)])
def test_directions_are_rotated_to_the_same_bits(
    angle: float, axis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of two numbers, which become three, and those of integers."""

    def rotated() -> Any:
        group: Any = manim.VGroup(*[manim.Dot() for _ in range(5)], manim.VGroup(manim.Square()))
        for member, direction in zip(
            group, [[1, 2], [1, 2, 3], np.arange(3), np.zeros((3, 1))], strict=False
        ):
            member.sheen_direction = direction
        assert group.rotate_sheen_direction(angle, axis) is group
        group[5].rotate_sheen_direction(angle, axis, family=False)
        group[0].sheen_direction = np.ones(4)
        with pytest.raises(ValueError, match="dimensions"):
            group.rotate_sheen_direction(angle, axis)
        return [np.asarray(member.sheen_direction) for member in group.get_family()]

    expected = rotated()
    monkeypatch.setattr(VMobject, "rotate_sheen_direction", rotations._rotate_sheen_direction)
    for found, before in zip(rotated(), expected, strict=True):
        _assert_equal(found, before)


def test_taking_styles_has_the_same_result_as_manim(monkeypatch: pytest.MonkeyPatch) -> None:
    """From mobjects with one colour, none, a gradient or a sheen, as in each frame of a written text."""
    gradient = [manim.RED, manim.GREEN, manim.BLUE]
    givers = [
        manim.Square(color=manim.RED, fill_opacity=0.3).set_background_stroke(color=manim.GREEN, width=3),
        VMobject(),
        manim.Square().set_color_by_gradient(*gradient),
        manim.Circle(stroke_width=2, sheen_factor=0.4, fill_opacity=1),
        manim.VGroup(manim.Dot(), manim.Star()),
    ]

    def matched() -> list[Any]:
        found = []
        for giver in givers:
            for taker in (VMobject(), manim.Dot(), givers[2].copy(), manim.VGroup(manim.Square())):
                for _ in range(2):
                    taker.match_style(giver)
                for member in taker.get_family():
                    found += [np.array(getattr(member, name)).tobytes() for name in _ATTRIBUTES]
        return found

    expected = matched()
    monkeypatch.setattr(VMobject, "update_rgbas_array", colours._update_rgbas_array)
    assert matched() == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(150))
def test_pictures_are_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flat and in three dimensions; for classes, cameras and mobjects with methods of their own, too."""
    chance = random.Random(seed)
    camera: Any = random_camera(chance)
    mobjects = [random_vmobject(chance) for _ in range(chance.choice([1, 3, 12]))]
    if isinstance(camera, ThreeDCamera) and chance.random() < 0.3:
        camera.add_fixed_in_frame_mobjects(mobjects[0])
        camera.add_fixed_orientation_mobjects(mobjects[-1])
    expected = drawn(camera, mobjects)
    replace_drawing(monkeypatch)
    assert drawn(camera, mobjects) == expected


def test_pictures_of_surfaces_and_axes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faces of all kinds from several sides, also while they are being created."""
    axes = manim.ThreeDAxes()
    mobjects = [
        axes,
        manim.Sphere(resolution=(7, 5)).set_opacity(0.7),
        manim.Cube().shift(2 * manim.LEFT),
        manim.Cylinder(resolution=5).shift(2 * manim.RIGHT),
        manim.Cone(resolution=5).shift(2 * manim.UP),
        manim.Torus(resolution=(6, 5)).set_fill_by_value(axes, [(manim.RED, -1), (manim.BLUE, 1)]),
        manim.Arrow3D(manim.ORIGIN, 3 * manim.OUT, resolution=3),
    ]
    partial: Any = manim.Sphere(resolution=(5, 5)).shift(3 * manim.DOWN)
    for number, face in enumerate(partial):
        face.pointwise_become_partial(face.copy(), 0, number / len(partial))
    camera = ThreeDCamera(pixel_width=96, pixel_height=54)
    views = [(0.3, 0.2), (1.2, -2.0)]

    def views_drawn() -> list[Any]:
        views_seen = []
        for phi, theta in views:
            camera.set_phi(phi)
            camera.set_theta(theta)
            views_seen.append(drawn(camera, [*mobjects, partial]))
        return views_seen

    expected = views_drawn()
    replace_drawing(monkeypatch)

    apply_fill = ThreeDCamera.apply_fill

    def fill_point(camera: Any, context: Any, vmobject: VMobject) -> Any:
        assert len(vmobject.points) == 1, "left to Manim"
        return apply_fill(camera, context, vmobject)

    monkeypatch.setattr(ThreeDCamera, "apply_fill", fill_point)
    monkeypatch.setitem(drawing.SOLID, "apply_fill", fill_point)
    assert views_drawn() == expected


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _assert_equal(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
    assert np.asarray(found).dtype == np.asarray(expected).dtype
