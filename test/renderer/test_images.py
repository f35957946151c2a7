"""Images are drawn on frames as Manim draws them."""

from typing import Any

import numpy as np
import pytest
from manim.camera.camera import Camera
from PIL import Image

from scene_renderer import images


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
