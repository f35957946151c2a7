"""Adds the cause to errors of Manim whose messages don't name it."""

import traceback
from pathlib import Path
from typing import NoReturn

import manim
import numpy as np
from manim import Mobject, Scene

from ..messages import FindingKind
from ..replacing import replace
from ..scene_error import SceneError
from . import settings

_MANIM = f"{Path(manim.__file__).parent}/"
_NOT_NUMBERS = "Not sure how you reached here"
NO_OPENGL = "OpenGL isn't here: scenes are rendered with Manim's Cairo renderer."


def refuse_windows() -> None:
    """Replace Manim's methods that open a window by errors that say so."""

    def interactive_embed(self: Scene) -> None:
        _refuse_window("interactive_embed")

    def embed(self: Scene) -> None:
        _refuse_window("embed")

    replace(Scene, interactive_embed=interactive_embed, embed=embed)


def _refuse_window(name: str) -> NoReturn:
    message = f"Scene.{name}() needs a window of Manim's OpenGL renderer. Remove it. {NO_OPENGL}"
    raise SceneError(message, kind="scene:unsupported", hint=f"Remove the call of `{name}`.")


def complete(error: BaseException, message: str) -> tuple[str, FindingKind | None]:
    """Return the message of an error, completed with its cause; and the kind of a cause that was found."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    manims = [frame for frame in reversed(frames) if frame.f_code.co_filename.startswith(_MANIM)]
    strange = next((found for frame in manims for found in _without_numbers(frame.f_locals)), None)
    if strange is not None and "broadcast" not in message:
        return (strange if message.startswith(_NOT_NUMBERS) else f"{message}. {strange}"), "scene:points"
    files = [Path(frame.f_code.co_filename).name for frame in frames]
    is_opengls = "OpenGL" in message or any(name.startswith("opengl") for name in files)
    if is_opengls or settings.asks_for_opengl():
        return f"{message}. {NO_OPENGL}", "scene:unsupported"
    return message, None


def _without_numbers(values: dict[str, object]) -> list[str]:
    """Describe the mobjects among local variables whose points aren't all numbers."""
    found = []
    for value in values.values():
        points = value.__dict__.get("points") if isinstance(value, Mobject) else None
        if isinstance(points, np.ndarray) and points.dtype.kind == "f" and points.size:
            wrong = len(points) - np.count_nonzero(np.isfinite(points).all(axis=-1))
            if wrong:
                share = f"{wrong} of the {len(points)} points of a {type(value).__name__}"
                found.append(f"{share} are not numbers (NaN or infinite): check what they are computed from.")
    return found
