"""Draws images on the part of a frame that they cover; Manim blends each with the whole frame."""

from typing import Any

import numpy as np
from manim.camera.camera import Camera
from PIL import Image

from .replacing import replace

_manims_own = Camera.overlay_PIL_image
_manims_image = Camera.get_image


def overlay_directly() -> None:
    """Replace the blending of images with frames."""
    replace(Camera, overlay_PIL_image=_overlay)


def _overlay(self: Camera, pixel_array: Any, image: Image.Image) -> None:
    """Draw an image of a frame's size over its pixels.

    Where the image is transparent, `alpha_composite` returns the pixels as they are.
    """
    if (
        type(pixel_array) is not np.ndarray
        or pixel_array.dtype != np.uint8
        or pixel_array.shape != (image.height, image.width, 4)
        or (image.mode, self.image_mode) != ("RGBA", "RGBA")
        or getattr(self.get_image, "__func__", None) is not _manims_image
    ):
        _manims_own(self, pixel_array, image)
    elif box := image.getbbox():
        left, top, right, bottom = box
        covered = pixel_array[top:bottom, left:right]
        covered[:] = Image.alpha_composite(Image.fromarray(covered), image.crop(box))
