"""Draws images, and mobjects that are coloured by images, with fewer operations on frames than Manim.

Manim draws everything above a moving mobject again. Transforming an image takes longer than all else, so it
is not repeated while the place and the pixels are the same.
"""

from dataclasses import dataclass
from itertools import groupby
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from manim import ImageMobject, VMobject
from manim.camera.camera import BackgroundColoredVMobjectDisplayer as Displayer
from manim.camera.camera import Camera
from manim.mobject.types.image_mobject import ImageMobjectFromCamera
from PIL import Image

from ..replacing import replace

# Of an image that is kept, and of what it is transformed to; and how many are kept.
_KEPT_BYTES = 4_194_304
_KEPT_IMAGES = 32
_manims_own = Camera.overlay_PIL_image
_manims_placing = Camera.display_image_mobject
_manims_pixels = (ImageMobject.get_pixel_array, ImageMobjectFromCamera.get_pixel_array)
_manims_image = Camera.get_image
_manims_display = Displayer.display
_OPAQUE = np.uint16(255)


@dataclass(frozen=True)
class _Placed:
    """An image as it was drawn: the part of the frame that it covers, and what decided how it looks there."""

    image: Image.Image | None
    left: int
    top: int
    pixels: Any
    place: tuple[object, ...]


_placed: WeakKeyDictionary[Any, _Placed] = WeakKeyDictionary()


def overlay_directly() -> None:
    """Replace the placing of images, and the blending of images with frames and with mobjects."""
    replace(Camera, overlay_PIL_image=_overlay, display_image_mobject=_place)
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
        _compose(pixel_array, image.crop(box), box[0], box[1])


def _place(self: Camera, image_mobject: Any, pixel_array: Any) -> None:
    """Draw an image mobject over the pixels of a frame."""
    # Another one may give other pixels whenever it is called.
    is_manims = type(image_mobject).get_pixel_array in _manims_pixels
    pixels = image_mobject.get_pixel_array() if is_manims else None
    if (
        not _is_overlaid_directly(self, pixel_array)
        or type(pixels) is not np.ndarray
        or pixels.nbytes > _KEPT_BYTES
    ):
        _manims_placing(self, image_mobject, pixel_array)
        return
    corners = self.points_to_subpixel_coords(image_mobject, image_mobject.points)
    place = corners.tobytes(), image_mobject.resampling_algorithm, pixel_array.shape
    placed = _placed.get(image_mobject)
    if placed is None or placed.place != place or not _are_equal(placed.pixels, pixels):
        placed = _transformed(self, image_mobject, pixel_array, place)
    if placed.image is not None:
        _compose(pixel_array, placed.image, placed.left, placed.top)


def _transformed(camera: Camera, image_mobject: Any, pixel_array: Any, place: tuple[object, ...]) -> _Placed:
    """Let Manim transform an image to its place, and keep it for the next frames."""
    full: list[Image.Image] = []
    vars(camera)["overlay_PIL_image"] = lambda _, image: full.append(image)
    try:
        _manims_placing(camera, image_mobject, pixel_array)
    finally:
        del vars(camera)["overlay_PIL_image"]
    box = full[0].getbbox() if full else None
    image = full[0].crop(box) if box else None
    left, top = box[:2] if box else (0, 0)
    placed = _Placed(image, left, top, image_mobject.get_pixel_array().copy(), place)
    if image is None or image.width * image.height * 4 <= _KEPT_BYTES:
        if len(_placed) >= _KEPT_IMAGES:
            _placed.clear()
        _placed[image_mobject] = placed
    return placed


def _are_equal(kept: Any, pixels: Any) -> bool:
    return bool(kept.shape == pixels.shape and kept.dtype == pixels.dtype and np.array_equal(kept, pixels))


def _is_overlaid_directly(camera: Camera, pixel_array: Any) -> bool:
    return bool(
        type(pixel_array) is np.ndarray
        and pixel_array.dtype == np.uint8
        and pixel_array.shape == (camera.pixel_height, camera.pixel_width, 4)
        and camera.image_mode == "RGBA"
        and getattr(camera.overlay_PIL_image, "__func__", None) is _overlay
        and getattr(camera.get_image, "__func__", None) is _manims_image
    )


def _compose(pixel_array: Any, image: Image.Image, left: int, top: int) -> None:
    covered = pixel_array[top : top + image.height, left : left + image.width]
    covered[:] = Image.alpha_composite(Image.fromarray(covered), image)


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
