"""Converts frames to the pixels that are sent to the encoder."""

from typing import TypeAlias

from .. import native
from .frames import Form, PixelFormat, Pixels, Rows

Area: TypeAlias = tuple[int, int, int, int]  # left, top, right, bottom; the last two are not part of it

_has_native = native.is_compiled()


def best_for(pixel_format: str) -> PixelFormat:
    """Return what to send to an encoder of a pixel format.

    The native conversion to yuv420p takes a third of swscale's time; its result equals swscale's with
    accurate rounding. For everything else, RGBA is sent, which the encoder's process converts.
    """
    return "yuv420p" if pixel_format == "yuv420p" and _has_native else "rgba"


class Converter:
    """Converts RGBA pixels, and keeps the converted picture."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._is_first = True
        self.picture = form.new_picture()

    def convert(self, pixels: Pixels, changed: Area) -> Rows:
        """Convert pixels: contiguous uint8, height by width by RGBA. Return the rows that differ.

        `changed`: what may differ from the pixels before. The picture is valid until the next call.
        """
        width, height = self._form.width_px, self._form.height_px
        if self._is_first:
            changed = 0, 0, width, height
        is_first, self._is_first = self._is_first, False
        if self._form.pixels == "rgba":
            self.picture = pixels
            return changed[1], changed[3]
        import scenepress_native

        planes = self._form.planes(self.picture)
        strides = (width, width // 2, width // 2)
        rows = scenepress_native.to_yuv420p(pixels, width, height, tuple(planes), strides, changed)
        return (0, height) if is_first else rows
