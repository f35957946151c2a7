"""Images are drawn on frames as Manim draws them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import LEFT, ORIGIN, RESAMPLING_ALGORITHMS, RIGHT, Circle, ImageMobject, Square, VMobject
from manim.camera.camera import BackgroundColoredVMobjectDisplayer, Camera
from PIL import Image

from scene_renderer.faster import images


def _noise(seed: int, shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("box", [(0, 0, 64, 36), (3, 5, 20, 30), (63, 35, 64, 36), (9, 9, 9, 9)])
def test_an_image_is_blended_as_by_manim(seed: int, box: tuple[int, int, int, int]) -> None:
    camera = Camera(pixel_width=64, pixel_height=36)
    left, top, right, bottom = box
    pixels = np.zeros((36, 64, 4), np.uint8)
    pixels[:, :, :3] = _noise(seed, (36, 64, 3))  # coloured where it is transparent
    alpha = np.random.default_rng(seed).choice(np.array([0, 1, 128, 255], np.uint8), (36, 64))
    pixels[top:bottom, left:right, 3] = alpha[top:bottom, left:right]
    ours, theirs = (_noise(seed + 1, (36, 64, 4)) for _ in range(2))
    images._overlay(camera, ours, Image.fromarray(pixels))
    images._manims_own(camera, theirs, Image.fromarray(pixels))
    assert ours.tobytes() == theirs.tobytes()


def test_other_images_are_left_to_manim() -> None:
    camera = Camera(pixel_width=64, pixel_height=36)
    with pytest.raises(ValueError, match="images do not match"):
        images._overlay(camera, _noise(1, (36, 64, 4)), Image.fromarray(_noise(2, (30, 64, 4))))
    with pytest.raises(ValueError, match="images do not match"):
        images._overlay(camera, _noise(1, (36, 64, 4)), Image.fromarray(_noise(2, (36, 64, 3))))
    seen = []

    class Own(Camera):
        def get_image(self, pixel_array: Any = None) -> Image.Image:
            seen.append(pixel_array)
            return super().get_image(pixel_array)

    pixels = _noise(1, (36, 64, 4))
    images._overlay(Own(pixel_width=64, pixel_height=36), pixels, Image.fromarray(_noise(2, (36, 64, 4))))
    assert seen[0] is pixels


def test_products_of_all_bytes_are_those_of_manim() -> None:
    colours, pixels = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    theirs = np.array(colours * pixels.astype("float") / 255, dtype=np.uint8)
    np.testing.assert_array_equal(images._multiplied(colours, pixels, np.uint8), theirs)
    real = colours / 255
    theirs = np.array(real * pixels.astype("float") / 255, dtype=float)
    np.testing.assert_array_equal(images._multiplied(real, pixels, float), theirs)


def test_mobjects_are_coloured_by_images_as_by_manim() -> None:
    first, second = (Image.fromarray(_noise(seed, (36, 64, 4))) for seed in (1, 2))
    small: Any = Image.fromarray(_noise(3, (9, 16, 3)))
    shown: list[VMobject] = []
    for image, shape in [(first, Circle()), (first, Square()), (second, Circle(2)), (small, Square(3))]:
        shape.set_fill(opacity=0.7).color_using_background_image(image)
        shown.append(shape)
    for mobjects in (shown, shown[:1], shown[::-1], []):
        displayers = [
            BackgroundColoredVMobjectDisplayer(Camera(pixel_width=64, pixel_height=36)) for _ in "ab"
        ]
        ours, theirs = (
            images._display(displayers[0], *mobjects),
            images._manims_display(displayers[1], *mobjects),
        )
        assert type(ours) is type(theirs)
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype


def test_an_image_that_stays_is_transformed_once_and_drawn_as_by_manim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    camera = Camera(pixel_width=128, pixel_height=72)
    image = ImageMobject(_noise(1, (20, 30, 4)))
    image.scale(4)
    transformed: list[object] = []
    transform = images._transformed

    def counted(*given: Any) -> Any:
        transformed.append(given)
        return transform(*given)

    monkeypatch.setattr(images, "_transformed", counted)

    def change_pixels() -> None:
        image.pixel_array[3:9, 4:7] = 77

    steps: list[tuple[Callable[[], object], int]] = [
        (lambda: None, 1),
        (lambda: None, 0),
        (lambda: image.shift(0.3 * RIGHT), 1),
        (lambda: image.rotate(0.4), 1),
        (change_pixels, 1),
        (lambda: image.set_opacity(0.5), 1),
        (lambda: None, 0),
        (lambda: image.set_resampling_algorithm(RESAMPLING_ALGORITHMS["nearest"]), 1),
        (lambda: image.shift(6 * LEFT), 1),  # partly outside of the frame
        (lambda: image.shift(20 * LEFT), 1),
        (lambda: None, 0),
        (lambda: image.move_to(ORIGIN).scale(0.001), 1),
        (lambda: image.scale(1000).stretch(0, 0), 1),
        (lambda: image.become(ImageMobject(_noise(3, (20, 30, 4))).scale(3)), 1),
    ]
    for step, times in steps:
        step()
        ours, theirs = (_noise(2, (72, 128, 4)) for _ in range(2))
        transformed.clear()
        with monkeypatch.context() as replaced:
            replaced.setattr(Camera, "overlay_PIL_image", images._overlay)
            images._place(camera, image, ours)
        images._manims_placing(camera, image, theirs)
        assert ours.tobytes() == theirs.tobytes()
        assert len(transformed) == times


def test_few_and_small_images_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Camera, "overlay_PIL_image", images._overlay)
    camera = Camera(pixel_width=128, pixel_height=72)
    images._placed.clear()
    several = [ImageMobject(_noise(seed, (4, 4, 4))) for seed in range(40)]
    for image in several:
        images._place(camera, image, _noise(2, (72, 128, 4)))
        assert len(images._placed) <= images._KEPT_IMAGES
    images._placed.clear()
    images._place(camera, ImageMobject(np.zeros((1100, 1000, 4), np.uint8)), _noise(2, (72, 128, 4)))
    assert len(images._placed) == 0
    images._place(camera, several[0], _noise(2, (72, 128, 4)))
    assert len(images._placed) == 1
    del image, several
    assert len(images._placed) == 0


def test_pixels_of_a_class_of_the_scene_are_asked_for_as_often_as_by_manim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Camera, "overlay_PIL_image", images._overlay)
    asked: list[None] = []

    class Video(ImageMobject):
        def get_pixel_array(self) -> Any:
            asked.append(None)
            return super().get_pixel_array()

    image = Video(_noise(1, (9, 9, 4)))
    asked.clear()
    images._place(Camera(pixel_width=64, pixel_height=36), image, _noise(2, (36, 64, 4)))
    assert len(asked) == 1


def test_a_camera_that_blends_in_its_own_way_is_left_to_manim() -> None:
    seen: list[object] = []

    class Own(Camera):
        def overlay_PIL_image(self, pixel_array: Any, image: Image.Image) -> None:  # noqa: N802 (Manim's)
            seen.append(image)

    camera, image = Own(pixel_width=64, pixel_height=36), ImageMobject(_noise(1, (9, 9, 4))).scale(9)
    for _ in range(2):
        images._place(camera, image, _noise(2, (36, 64, 4)))
    assert len(seen) == 2
