"""Random mobjects and cameras, and what cameras draw of them."""

import random
from typing import Any

import manim
import numpy as np
import pytest
from manim import VMobject
from manim.camera.camera import Camera
from manim.camera.moving_camera import MovingCamera
from manim.camera.three_d_camera import ThreeDCamera

from scene_renderer.faster import drawing, projection


class _Lenient(VMobject):
    """A class of a scene for which all points are equal."""

    def consider_points_equals_2d(self, p0: Any, p1: Any) -> bool:
        return True


class _Bold(VMobject):
    """A class of a scene with lines of its own."""

    def get_stroke_width(self, background: bool = False) -> float:
        return 9.0


class _ShiftedCamera(Camera):
    """A camera of a scene that draws elsewhere."""

    def transform_points_pre_display(self, mobject: Any, points: Any) -> Any:
        return np.asarray(points) + 0.3


def random_points(chance: random.Random) -> "np.ndarray[Any, Any]":
    """Return curves of which some meet exactly, some nearly, some not, and some with odd coordinates."""
    odd = [1, 3, 5, 61] if chance.random() < 0.1 else []
    count = chance.choice([4, 4, 8, 12, 16, 16, 40, 400, *odd])
    points = np.array([[chance.uniform(-8, 8) for _ in range(3)] for _ in range(count)]).reshape(count, 3)
    for at in range(4, count, 4):
        gap = chance.choice([0, 0, 0, 1e-7, 9e-7, 1e-6, 1.1e-6, 8e-5, 1])
        points[at] = points[at - 1] + [chance.choice([gap, -gap]), chance.choice([gap, 0]), 1]
    if chance.random() < 0.5:
        points[count - 1] = points[0] + chance.choice([0, 1e-6, 1])
    if count > 6 and chance.random() < 0.2:
        points[3] = points[0] + chance.choice([0, 1e-9])  # no, or hardly any, area
    if chance.random() < 0.1:
        points[chance.randrange(count)] = chance.choice([np.nan, np.inf, -np.inf])
    if chance.random() < 0.1:
        return points[::-1]
    return points.astype(chance.choice([np.float64] * 5 + [np.float32]))


def random_vmobject(chance: random.Random) -> VMobject:
    vmobject: Any = chance.choice([VMobject] * 6 + [_Lenient, _Bold])()
    vmobject.points = random_points(chance)
    vmobject.tolerance_for_point_equality = chance.choice([1e-6, 1e-6, 1e-6, 0, 0.0, 0.01, -1.0])
    colours: Any = [manim.RED, [manim.RED, manim.BLUE], [manim.RED, manim.GREEN, manim.BLUE]]
    vmobject.set_fill(chance.choice(colours), chance.choice([0, 0.3, 1]))
    vmobject.set_stroke(chance.choice(colours), chance.choice([0, 1, 4, 7.5, -2, np.float64(3)]), 0.8)
    if chance.random() < 0.3:
        vmobject.set_stroke(manim.YELLOW, chance.choice([2, 12.5]), background=True)
    vmobject.joint_type = chance.choice(list(manim.LineJointType))
    vmobject.cap_style = chance.choice(list(manim.CapStyleType))
    vmobject.shade_in_3d = chance.random() < 0.6
    if chance.random() < 0.1:
        vmobject.z_index_group = manim.Square().shift(chance.random() * manim.OUT)
    if chance.random() < 0.05:
        vmobject.get_fill_rgbas = lambda: np.ones((1, 4))
    if chance.random() < 0.05:
        del vmobject.stroke_rgbas
    if chance.random() < 0.1:
        vmobject.add(random_vmobject(chance))
    return vmobject  # type: ignore[no-any-return] # Any, for the changes above


def random_camera(chance: random.Random) -> Any:
    size = {"pixel_width": 64, "pixel_height": 36}
    kind = chance.choice([Camera, ThreeDCamera, ThreeDCamera, MovingCamera, _ShiftedCamera])
    camera: Any = kind(**size)
    if kind is ThreeDCamera:
        camera.set_phi(chance.uniform(0, 3))
        camera.set_theta(chance.uniform(-3, 3))
        camera.set_gamma(chance.choice([0, 0.3]))
        camera.set_zoom(chance.choice([1, 0.7]))
        camera.set_focal_distance(chance.choice([20.0, 4.0, 1.0]))
        camera.should_apply_shading = chance.random() < 0.8
        camera.exponential_projection = chance.random() < 0.1
        camera.frame_center = [0, chance.choice([0, 0.5]), 0]
        camera.reset_rotation_matrix()
    return camera


def drawn(camera: Camera, mobjects: list[Any]) -> tuple[bytes, str, list[Any]] | str:
    """Return the picture, the last path, and the order of the mobjects; or an error, as of half a curve."""
    camera.reset()
    try:
        camera.capture_mobjects(mobjects)
    except (IndexError, TypeError, ValueError) as error:
        return str(error)
    path = str(camera.get_cairo_context(camera.pixel_array).copy_path())
    return camera.pixel_array.tobytes(), path, camera.get_mobjects_to_display(mobjects)


def replace_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace what cameras use, until the end of the test."""
    monkeypatch.setattr(ThreeDCamera, "get_mobjects_to_display", projection._get_mobjects_to_display)
    monkeypatch.setattr(Camera, "type_or_raise", drawing._type_or_raise)
    monkeypatch.setattr(Camera, "display_multiple_non_background_colored_vmobjects", drawing._display)
