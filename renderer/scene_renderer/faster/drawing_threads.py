"""Records what each frame shows, so that threads draw it while the scene continues.

A recorded frame is a copy of all points and colours, so it is drawn as it would have been at that moment. The
threads need nothing of Python (`drawing_threads.c`), and the encoder waits for each frame in turn.

Frames are drawn at once, as Manim does, if they show more than vectorized mobjects, if the scene has a camera
or mobjects that draw in a way of their own, or as soon as it has read the pixels of its camera: it may keep
the array and read later frames from it.
"""

import copy
import os
import sys
from types import CodeType
from typing import Any

import numpy as np
from manim import Mobject, Scene, VMobject
from manim.camera.camera import Camera
from manim.camera.moving_camera import MovingCamera
from manim.camera.multi_camera import MultiCamera
from manim.camera.three_d_camera import ThreeDCamera
from manim.renderer.cairo_renderer import CairoRenderer
from manim.utils.iterables import list_update

import scenepress_native

from ..job.capture import HAS_READ_PIXELS, CaptureRenderer
from ..replacing import add
from . import drawing, projection

# In the attributes of a camera, so that a copy of it has them, too.
_PIXELS = "pixel_array"
_BACKGROUND = "background"
_RECORDED = "_recorded_frame"  # a picture and its background, which the pixels don't show yet
_METHODS = (
    "cache_cairo_context",
    "capture_mobjects",
    "display_multiple_non_background_colored_vmobjects",
    "display_multiple_vectorized_mobjects",
    "get_cached_cairo_context",
    "get_cairo_context",
    "get_mobjects_to_display",
    "reset",
    "set_frame_to_background",
    "set_pixel_array",
    "type_or_raise",
)
_RENDERER_METHODS = {
    name: getattr(CairoRenderer, name) for name in ("add_frame", "get_frame", "update_frame")
}
_OVERWRITES = Camera.set_pixel_array.__code__
# Code that is known to keep no reference to the array.
_PASSING: frozenset[CodeType] = frozenset(
    method.__code__
    for method in (
        Camera.capture_mobjects,
        Camera.set_pixel_array,
        CairoRenderer.get_frame,
        CaptureRenderer.render,
        MultiCamera.update_sub_cameras,
    )
)
# Manim's code that sets a background, or copies it.
_PASSING_BACKGROUND: frozenset[CodeType] = frozenset(
    method.__code__
    for method in (Camera.__init__, Camera.init_background, Camera.reset, Camera.set_background)
)
_kinds: dict[Any, dict[str, Any]] = {}  # by `capture_mobjects`: methods of a camera that draws as Manim's


class _Background:
    """The attribute `background` of cameras, whose array does not change while pictures are drawn over it.

    Code that is not Manim's gets a copy that it may change, and its frames are drawn at once from then on.
    """

    def __get__(self, camera: Any, kind: type) -> Any:
        if camera is None:
            return self
        attributes = vars(camera)
        try:
            background = attributes[_BACKGROUND]
        except KeyError:
            raise AttributeError(f"{kind.__name__!r} object has no attribute {_BACKGROUND!r}") from None
        if sys._getframe(1).f_code not in _PASSING_BACKGROUND:
            attributes[HAS_READ_PIXELS] = True
            background = attributes[_BACKGROUND] = copy.copy(background)
        return background

    def __set__(self, camera: Any, background: Any) -> None:
        attributes = vars(camera)
        attributes[_BACKGROUND] = background
        if sys._getframe(1).f_code not in _PASSING_BACKGROUND:
            attributes[HAS_READ_PIXELS] = True


class _Pixels:
    """The attribute `pixel_array` of cameras."""

    def __get__(self, camera: Any, kind: type) -> Any:
        if camera is None:
            return self
        attributes = vars(camera)
        reader = sys._getframe(1).f_code
        if reader is _OVERWRITES:
            attributes.pop(_RECORDED, None)
        elif _RECORDED in attributes:
            _show(attributes)
        if reader not in _PASSING:
            attributes[HAS_READ_PIXELS] = True
        try:
            return attributes[_PIXELS]
        except KeyError:
            raise AttributeError(f"{kind.__name__!r} object has no attribute {_PIXELS!r}") from None

    def __set__(self, camera: Any, pixels: Any) -> None:
        attributes = vars(camera)
        attributes.pop(_RECORDED, None)
        attributes[_PIXELS] = pixels
        if sys._getframe(1).f_code not in _PASSING:
            attributes[HAS_READ_PIXELS] = True


_pixels, _background = _Pixels(), _Background()


def draw_by_threads() -> None:
    """Let threads draw the frames of Manim's and the scene's cameras.

    To be called when other methods of cameras have been replaced.
    """
    for kind in (Camera, MovingCamera, MultiCamera, ThreeDCamera):
        methods = {name: getattr(kind, name) for name in _METHODS}
        own = drawing.SOLID if kind is ThreeDCamera else drawing.FLAT
        _kinds[methods["capture_mobjects"]] = own | methods
    add(Camera, pixel_array=_pixels, background=_background, __getstate__=_state)
    CaptureRenderer.recorder_type = Recorder
    # The thread that encodes draws, too, while it waits.
    scenepress_native.set_threads(len(os.sched_getaffinity(0)) - 1)


class Recorder:
    """Records the frames of a scene, as long as they can be."""

    def __init__(self) -> None:
        self._unsuitable_play = -1

    def record(self, renderer: CairoRenderer, scene: Scene, mobjects: Any) -> tuple[Any, Any] | None:
        """Return a frame as a picture and its background; None if it has to be drawn at once.

        If one frame of an animation can't be recorded, the rest of the animation isn't recorded either.
        """
        if renderer.num_plays == self._unsuitable_play:
            return None
        recorded = _record(renderer, scene, mobjects)
        if recorded is None:
            self._unsuitable_play = renderer.num_plays
        return recorded


def _record(renderer: Any, scene: Scene, mobjects: Any) -> tuple[Any, Any] | None:
    camera = renderer.camera
    attributes = vars(camera)
    methods = _kinds.get(getattr(camera.capture_mobjects, "__func__", None))
    if (
        methods is None
        or attributes.get(HAS_READ_PIXELS)
        or type(camera).pixel_array is not _pixels
        or type(camera).background is not _background
        or not drawing.has_methods(camera, methods)
        or not drawing.has_methods(renderer, _RENDERER_METHODS)
        or attributes.get("image_mobjects_from_cameras")
    ):
        return None
    pixels = attributes.get(_PIXELS)
    background = attributes.get(_BACKGROUND) if renderer.static_image is None else renderer.static_image
    if not (_are_pixels(pixels, camera) and _are_pixels(background, camera)):
        return None
    is_solid = isinstance(camera, ThreeDCamera)
    if is_solid:
        camera.reset_rotation_matrix()
    listed = camera.get_mobjects_to_display(
        mobjects or list_update(scene.mobjects, scene.foreground_mobjects)
    )
    kinds = [camera.type_or_raise(mobject) for mobject in listed]
    if any(kind is not VMobject and kind is not Mobject for kind in kinds):
        return None
    shown = [mobject for mobject, kind in zip(listed, kinds, strict=True) if kind is VMobject]
    picture = scenepress_native.Picture()
    if shown:  # without mobjects, Manim's camera makes no context, and it may keep the first one
        context = camera.get_cairo_context(pixels)
        items = projection.project(camera, shown) if is_solid else shown
        ratio = camera.frame_width / camera.frame_width
        if picture.record(camera, context, items, camera.cairo_line_width_multiple, ratio) < len(items):
            return None
    attributes[_RECORDED] = picture, background
    return picture, background


def _are_pixels(array: Any, camera: Camera) -> bool:
    shape = camera.pixel_height, camera.pixel_width, 4
    return (
        type(array) is np.ndarray
        and array.dtype == np.uint8
        and array.shape == shape
        and array.flags.c_contiguous
    )


def _show(attributes: dict[str, Any]) -> None:
    """Draw the last recorded frame of a camera on its pixels."""
    picture, background = attributes.pop(_RECORDED)
    pixels = attributes[_PIXELS]
    np.copyto(pixels, background)
    picture.draw(pixels)


def _state(self: Any) -> dict[str, Any]:
    """Return the attributes of a camera for a copy, which refers to the same pixels."""
    attributes: dict[str, Any] = vars(self)
    if _RECORDED in attributes:
        _show(attributes)
    attributes[HAS_READ_PIXELS] = True
    return attributes
