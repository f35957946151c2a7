"""Draws images, and mobjects that are coloured by images, with fewer operations on frames than Manim."""

from itertools import groupby
from typing import Any

import numpy as np
from manim import VMobject
from manim.camera.camera import BackgroundColoredVMobjectDisplayer as Displayer
from manim.camera.camera import Camera
from PIL import Image

from ..replacing import replace

_manims_own = Camera.overlay_PIL_image
_manims_image = Camera.get_image
_manims_display = Displayer.display
_OPAQUE = np.uint16(255)


def overlay_directly() -> None:
    """Replace the blending of images with frames and with mobjects."""
    replace(Camera, overlay_PIL_image=_overlay)
    replace(Displayer, display=_display)


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


def _display(self: Displayer, *mobjects: VMobject) -> Any:
    """Return the pixels of mobjects, coloured by their images; None if there are none."""
    drawn = None
    for image, group in groupby(mobjects, lambda mobject: mobject.get_background_image()):
        colours, pixels = self.get_background_array(image), self.pixel_array
        self.camera.display_multiple_non_background_colored_vmobjects(group, pixels)
        coloured = _multiplied(colours, pixels, self.camera.pixel_array_dtype)
        drawn = coloured if drawn is None else np.maximum(drawn, coloured)
        self.reset_pixel_array()
    return drawn


def _multiplied(colours: Any, pixels: Any, kind: Any) -> Any:
    """Return the products of parts of 255, without their fractions. With whole numbers they are the same."""
    if not (colours.dtype == pixels.dtype == kind == np.uint8):
        return np.array(colours * pixels.astype("float") / 255, dtype=kind)
    products = np.multiply(colours, pixels, dtype=np.uint16)
    return np.floor_divide(products, _OPAQUE, out=products).astype(np.uint8)
