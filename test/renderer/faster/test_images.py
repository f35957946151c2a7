"""Images are drawn on frames as Manim draws them."""

from typing import Any

import numpy as np
import pytest
from manim import Circle, Square, VMobject
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
