"""The scene that this process plays, and its clock."""

import math

from manim import Scene, config

from ..scene_error import SceneError

# Frames are counted with this tolerance, because times are sums of many fractions.
_FRAME_TOLERANCE = 0.01

_playing: Scene | None = None


def enter(scene: Scene) -> None:
    """Note the scene that this process plays."""
    global _playing
    _playing = scene


def scene() -> Scene:
    """Return the scene that this process plays. Raises SceneError before its `__init__` has ended."""
    if _playing is None:
        raise SceneError("There is no scene to wait in yet. Wait in the method `construct`.")
    return _playing


def now(scene: Scene) -> float:
    """Return the time of a scene's clock in seconds: that of its next frame."""
    time = scene.time
    return float(time or 0.0)


def wait_nearly(scene: Scene, seconds: float) -> None:
    """Wait for the whole number of frames that is the nearest to some seconds."""
    _wait(scene, round(seconds * config.frame_rate))


def wait_at_least(scene: Scene, seconds: float) -> None:
    """Wait for the least whole number of frames that is not shorter than some seconds."""
    _wait(scene, math.ceil(seconds * config.frame_rate - _FRAME_TOLERANCE))


def _wait(scene: Scene, frames: int) -> None:
    """Wait for some frames, whichever way Manim rounds: down if nothing moves, otherwise up."""
    if frames <= 0:
        return
    tolerance = -_FRAME_TOLERANCE if _moves(scene) else _FRAME_TOLERANCE
    scene.wait((frames + tolerance) / config.frame_rate)


def _moves(scene: Scene) -> bool:
    """Whether Manim draws each frame of a wait, because something may move."""
    family = scene.get_mobject_family_members()
    is_updated = scene.always_update_mobjects or bool(scene.updaters)
    return is_updated or any(mobject.has_time_based_updater() for mobject in family)
