"""Frames that are recorded and drawn by threads equal those that Manim draws at once."""

import os
import random
import signal
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import manim
import numpy as np
import pytest
from manim import VMobject
from manim.camera.camera import Camera
from manim.camera.moving_camera import MovingCamera
from manim.camera.three_d_camera import ThreeDCamera
from manim.renderer.cairo_renderer import CairoRenderer

import scenepress_native
from random_mobjects import drawn, random_camera, random_vmobject, replace_drawing
from scene_renderer.faster import drawing_threads
from scene_renderer.job.capture import CaptureRenderer

_SIZE: Any = {"pixel_width": 64, "pixel_height": 36}


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw by threads until the end of the test."""

    def add(owner: type, /, **parts: object) -> None:
        for name, part in parts.items():
            monkeypatch.setattr(owner, name, part, raising=False)

    monkeypatch.setattr(drawing_threads, "add", add)
    monkeypatch.setattr(CaptureRenderer, "recorder_type", None)
    monkeypatch.setattr(drawing_threads, "_kinds", {})
    replace_drawing(monkeypatch)
    drawing_threads.draw_by_threads()
    scenepress_native.set_threads(2)


def _record(camera: Any, mobjects: list[Any]) -> Any:
    """Return a frame as a picture and its background, or None, as a play records it."""
    renderer: Any = CairoRenderer.__new__(CairoRenderer)
    vars(renderer).update(camera=camera, static_image=None, num_plays=0)
    scene: Any = SimpleNamespace(mobjects=[], foreground_mobjects=[])
    return drawing_threads.Recorder().record(renderer, scene, mobjects)


def _begin(recorded: Any) -> Any:
    picture, background = recorded
    pixels = np.full_like(background, 77)
    height, width, _ = pixels.shape
    picture.begin(pixels, background, (0, 0, width, height))
    return pixels


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(150))
def test_recorded_frames_are_the_same(seed: int, request: pytest.FixtureRequest) -> None:
    """Of mobjects and cameras of all kinds, also after the mobjects have changed."""
    chance = random.Random(seed)
    camera = random_camera(chance)
    mobjects = [random_vmobject(chance) for _ in range(chance.choice([1, 3, 12]))]
    expected = drawn(camera, mobjects)
    camera.reset()
    request.getfixturevalue("threads")
    if isinstance(expected, str):
        return
    recorded = _record(camera, mobjects)
    if recorded is None:  # this is for Manim
        assert drawn(camera, mobjects)[0] == expected[0]
        return
    pixels = _begin(recorded)
    for mobject in mobjects:
        for member in mobject.get_family():
            member.points = np.zeros((0, 3))
    left, top, right, bottom = recorded[0].wait()
    assert pixels.tobytes() == expected[0]
    pixels[top:bottom, left:right] = recorded[1][top:bottom, left:right]
    assert (pixels == recorded[1]).all()
    assert camera.pixel_array.tobytes() == expected[0]


@pytest.mark.parametrize("kind", [Camera, MovingCamera, ThreeDCamera])
@pytest.mark.usefixtures("threads")
def test_ordinary_frames_are_recorded(kind: Any) -> None:
    camera = kind(**_SIZE)
    shapes = [manim.Square(), manim.Circle(), manim.ValueTracker(1), manim.VGroup(manim.Star())]
    for _ in range(3):
        recorded = _record(camera, shapes)
        assert recorded
        pixels = _begin(recorded)
        recorded[0].wait()
        assert pixels.any()
    assert _record(camera, [VMobject()])


class _Wide(Camera):
    """A camera of a scene."""

    def get_mobjects_to_display(self, *args: Any, **kwargs: Any) -> Any:
        return super().get_mobjects_to_display(*args, **kwargs)[:1]


@pytest.mark.usefixtures("threads")
def test_frames_that_manim_has_to_draw_are_not_recorded() -> None:
    square = manim.Square()
    assert not _record(Camera(**_SIZE), [square, manim.Point()])
    assert not _record(Camera(**_SIZE), [square, manim.ImageMobject(np.zeros((2, 2)))])
    assert not _record(_Wide(**_SIZE), [square])
    camera = Camera(**_SIZE)
    camera.get_cairo_context(vars(camera)["pixel_array"]).set_tolerance(1)
    assert not _record(camera, [square])
    camera = Camera(**_SIZE)
    vars(camera)["reset"] = lambda: camera
    assert not _record(camera, [square])
    camera = Camera(**_SIZE)
    assert camera.pixel_array is vars(camera)["pixel_array"]
    assert not _record(camera, [square])


@pytest.mark.usefixtures("threads")
def test_copies_of_cameras_show_the_same() -> None:
    camera = Camera(**_SIZE)
    assert _record(camera, [manim.Square()])
    other = camera.__deepcopy__({})
    assert other.pixel_array is vars(camera)["pixel_array"]
    assert other.pixel_array.any()
    assert not _record(camera, [manim.Square()])


@pytest.mark.usefixtures("threads")
def test_a_camera_has_pixels_as_in_manim() -> None:
    camera: Any = Camera.__new__(Camera)
    assert not hasattr(camera, "pixel_array")
    with pytest.raises(AttributeError, match="'Camera' object has no attribute 'pixel_array'"):
        camera.pixel_array  # noqa: B018
    pixels = np.zeros((36, 64, 4), np.uint8)
    camera.pixel_array = pixels
    assert camera.pixel_array is pixels


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("count", [0, 1, 5])
def test_many_frames_are_drawn_in_any_order(count: int) -> None:
    """More than there are threads, some of which are not waited for."""
    scenepress_native.set_threads(count)
    chance = random.Random(count)
    camera = Camera(**_SIZE)
    stars = [manim.Star(fill_opacity=0.5).shift(chance.uniform(-5, 5) * manim.UP) for _ in range(20)]
    group = manim.VGroup(*stars)
    begun = []
    for _ in range(60):
        group.rotate(0.1)
        recorded = _record(camera, [group])
        assert recorded
        expected = recorded[1].copy()
        recorded[0].draw(expected)
        begun.append((recorded[0], _begin(recorded), expected))
    del begun[::7]
    chance.shuffle(begun)
    for picture, pixels, expected in begun:
        picture.wait()
        assert pixels.tobytes() == expected.tobytes()


@pytest.mark.usefixtures("threads")
def test_a_forked_process_waits_for_no_thread_of_another() -> None:
    camera = Camera(**_SIZE)
    recorded = [_record(camera, [manim.Square()]) for _ in range(20)]
    begun = [_begin(frame) for frame in recorded]
    child = os.fork()
    if child == 0:
        code = 1
        signal.alarm(60)  # if it waits for a thread
        try:
            for picture, _ in recorded:
                with suppress(RuntimeError):
                    picture.wait()
            frame = _record(camera, [manim.Square()])
            pixels = _begin(frame)
            frame[0].wait()
            code = 0 if pixels.any() else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for picture, _ in recorded:
        picture.wait()
    assert all(pixels.any() for pixels in begun)


@pytest.mark.usefixtures("threads")
def test_misuse_is_refused() -> None:
    picture = scenepress_native.Picture()
    with pytest.raises(RuntimeError):
        picture.wait()
    pixels = np.zeros((4, 4, 4), np.uint8)
    for array in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4)), np.zeros((4, 4, 3), np.uint8)):
        with pytest.raises(ValueError, match="expected bytes"):
            picture.begin(array, pixels, (0, 0, 4, 4))
    with pytest.raises((BufferError, ValueError)):
        picture.begin(np.zeros((8, 8, 4), np.uint8)[::2, ::2], pixels, (0, 0, 4, 4))
    for background in (np.zeros((4, 5, 4), np.uint8), np.zeros((3, 4, 4), np.uint8), np.zeros((4, 4, 4))):
        with pytest.raises(ValueError, match="expected a background"):
            picture.begin(pixels, background, (0, 0, 3, 3))
    for area in [(0, -1, 4, 2), (0, 3, 4, 2), (0, 0, 4, 5), (-1, 0, 4, 4), (3, 0, 2, 4), (0, 0, 5, 4)]:
        with pytest.raises(ValueError, match="no such area"):
            picture.begin(pixels, pixels, area)
    picture.begin(pixels, pixels, (0, 0, 0, 0))
    with pytest.raises(RuntimeError):
        picture.begin(pixels, pixels, (0, 0, 0, 0))
    picture.wait()
    refused: Any = scenepress_native.Picture
    with pytest.raises(TypeError):
        refused(1)


@pytest.mark.usefixtures("threads")
def test_a_picture_is_not_used_while_it_is_recorded() -> None:
    """A getter of a mobject may call anything."""
    pixels: Any = np.zeros((36, 64, 4), np.uint8)
    refused: list[str] = []
    uses: list[Any] = []

    class Caller(manim.Square):
        @property
        def stroke_width(self) -> float:
            for use in uses:
                try:
                    use(pixels)
                except RuntimeError as error:
                    refused.append(str(error))
            return 4.0

        @stroke_width.setter
        def stroke_width(self, value: float) -> None:
            pass

    camera = Camera(**_SIZE)
    picture = scenepress_native.Picture()
    mobjects: list[Any] = [manim.Square(), Caller()]
    uses.extend((lambda pixels: picture.begin(pixels, pixels, (0, 0, 0, 0)), picture.draw))
    context = camera.get_cairo_context(pixels)
    assert picture.record(camera, context, mobjects, camera.cairo_line_width_multiple, 1.0) == len(mobjects)
    uses.clear()
    assert set(refused) == {"the picture has begun already", "the picture is in use"}
    picture.begin(pixels, pixels, (0, 0, 0, 0))
    picture.wait()
    assert pixels.any()


@pytest.mark.usefixtures("threads")
def test_only_the_area_of_a_line_is_drawn_on() -> None:
    camera = Camera(pixel_width=640, pixel_height=360)
    areas = []
    for mobject in (manim.Line(), manim.Square(side_length=4).shift(3 * manim.UP), VMobject()):
        recorded = _record(camera, [mobject])
        _begin(recorded)
        areas.append(recorded[0].wait())
    line, square, nothing = areas
    assert 240 < line[0] < 280 < 360 < line[2] < 400
    assert 150 < line[1] < 180 < line[3] < 210
    assert square[1] == 0
    assert 135 < square[3] < 165
    assert nothing == (0, 0, 0, 0)


@pytest.mark.parametrize("joint", list(manim.LineJointType))
def test_the_area_of_sharp_corners_is_drawn_on(joint: Any, request: pytest.FixtureRequest) -> None:
    """The tip of a narrow corner reaches far beyond its line."""
    camera = Camera(pixel_width=640, pixel_height=360)
    corner = VMobject(stroke_width=40, joint_type=joint).set_points_as_corners(
        np.array([[-0.3, -1, 0], [0, 1, 0], [0.3, -1, 0]])
    )
    expected = drawn(camera, [corner])
    camera.reset()
    request.getfixturevalue("threads")
    recorded = _record(camera, [corner])
    pixels = _begin(recorded)
    left, top, right, bottom = recorded[0].wait()
    assert pixels.tobytes() == expected[0]
    pixels[top:bottom, left:right] = recorded[1][top:bottom, left:right]
    assert (pixels == recorded[1]).all()


@pytest.mark.usefixtures("threads")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(60))
def test_pictures_are_equal_outside_of_the_changed_area(seed: int) -> None:
    """When mobjects have moved, have been inserted, removed or put into another order."""
    chance = random.Random(seed)
    camera = Camera(pixel_width=320, pixel_height=180)
    mobjects: list[Any] = [random_vmobject(chance) for _ in range(chance.choice([0, 1, 4, 9]))]
    before: Any = None
    for _ in range(6):
        try:
            recorded = _record(camera, mobjects)
        except TypeError:
            return  # Manim can't draw it
        if recorded is None:
            return
        pixels = _begin(recorded)
        recorded[0].wait()
        if before is not None:
            left, top, right, bottom = recorded[0].changed_since(before[0])
            before[1][top:bottom, left:right] = pixels[top:bottom, left:right]
            assert (before[1] == pixels).all()
        before = recorded[0], pixels
        change = chance.choice(["move", "insert", "remove", "swap", "nothing"])
        at = chance.randint(0, len(mobjects))
        if change == "insert":
            mobjects.insert(at, random_vmobject(chance))
        elif change == "remove":
            del mobjects[at : at + 1]
        elif change == "swap":
            mobjects[at:] = mobjects[at:][::-1]
        elif change == "move" and mobjects:
            mobjects[at - 1].shift(chance.choice([0.1, 2]) * manim.RIGHT)


@pytest.mark.usefixtures("threads")
def test_only_what_has_moved_is_a_change() -> None:
    camera: Any = Camera(pixel_width=640, pixel_height=360)
    left, right = manim.Square(side_length=1).shift(5 * manim.LEFT), manim.Dot().shift(5 * manim.RIGHT)

    def picture(camera: Any = camera) -> Any:
        recorded = _record(camera, [manim.Circle(), left, right])
        _begin(recorded)
        recorded[0].wait()
        return recorded[0]

    first = picture()
    assert picture().changed_since(first) == (0, 0, 0, 0)
    right.shift(0.5 * manim.UP)
    changed = picture().changed_since(first)
    assert changed[0] > 500
    assert changed[2] < 580
    assert 130 < changed[1] < changed[3] < 190
    left.set_color(manim.RED)
    changed = picture().changed_since(first)
    assert changed[0] < 100
    assert changed[2] > 500
    moved: Any = MovingCamera(pixel_width=640, pixel_height=360)
    moved.frame.scale(0.5)
    assert picture(moved).changed_since(first) == (0, 0, 640, 360)
    unused = scenepress_native.Picture()
    with pytest.raises(RuntimeError):
        unused.changed_since(first)
    with pytest.raises(RuntimeError):
        first.changed_since(unused)
    with pytest.raises(TypeError):
        first.changed_since(None)


@pytest.mark.usefixtures("threads")
def test_a_background_does_not_change_while_frames_are_drawn_over_it() -> None:
    camera: Any = Camera(**_SIZE)
    recorded = _record(camera, [manim.Square()])
    before = recorded[1].copy()
    camera.background[:] = 200
    assert recorded[1].tobytes() == before.tobytes()
    assert camera.background.min() == 200
    assert not _record(camera, [manim.Square()]), "the scene may have kept the array"
    camera.reset()
    assert camera.pixel_array.min() == 200
    camera = Camera(**_SIZE)
    camera.background_color = manim.BLUE
    assert _record(camera, [manim.Square()]), "Manim's own code keeps no array"
    camera.background = np.zeros((36, 64, 4), np.uint8)
    assert not _record(camera, [manim.Square()])
