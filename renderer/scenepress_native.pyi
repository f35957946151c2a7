"""The library that the setup builds from ``native/scenepress_native.c``."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import cairo
from manim import Mobject, VMobject
from manim.camera.camera import Camera

def prepare(
    kind: type[VMobject], joins: tuple[tuple[Enum, int], ...], caps: tuple[tuple[Enum, int], ...], /
) -> None: ...
def get_family(mobject: Mobject, method: Callable[..., Any], /) -> list[Mobject] | None: ...
def get_anchors(family: list[Mobject], method: Callable[..., Any], /) -> Any: ...
def interpolate(start: Any, end: Any, alpha: float, /) -> Any: ...
def interpolate_style(mobject: Any, first: Any, second: Any, alpha: float, /) -> Any: ...
def draw(
    camera: Camera, context: cairo.Context[Any], items: Iterable[Any], multiple: float, ratio: float, /
) -> None: ...
