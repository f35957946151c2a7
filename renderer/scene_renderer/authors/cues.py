"""Cues: moments of the video that are named outside of the scene, or by it."""

import json
import warnings
from pathlib import Path
from typing import Any

from manim import config

from ..scene_error import SceneError
from . import params, stage

_FILE = Path("cues.json")
_PARAMETER = "cues"
_marked: dict[str, float] = {}
_HINT = (
    'Give the parameter `cues`, or a file cues.json, with the seconds of each cue: {"proof": 4.5}. '
    "Cues of the parameter take precedence."
)


def cue(name: str) -> float:
    """Return the time of a cue in the video, in seconds, of the parameter `cues` or the file ``cues.json``.

    A cue that neither has is the present moment, at which a request may place a sound.
    """
    cues = given()
    return cues[name] if name in cues else _marked.setdefault(name, stage.now(stage.scene()))


def given() -> dict[str, float]:
    """Return the cues that are given outside of the scene, with their times in the video in seconds."""
    return _of_file() | _checked(params.given(_PARAMETER), f"The parameter {_PARAMETER}")


def marked() -> dict[str, float]:
    """Return the cues that the scene has named, with their times on its clock in seconds."""
    return dict(_marked)


def _given(name: str) -> float:
    cues = given()
    if name in cues:
        return cues[name]
    known = f" There are {', '.join(cues)}." if cues else ""
    raise SceneError(
        f"There is no cue {name!r}.{known}", kind="scene:lookup", hint=_HINT, candidates=(*cues,)
    )


def wait_until_cue(name: str) -> None:
    """Wait until the time of a cue, to the nearest frame; warn if it has passed.

    Raises SceneError if it is not given outside of the scene.
    """
    scene = stage.scene()
    seconds = _given(name) - stage.now(scene)
    if seconds <= -1 / config.frame_rate:
        text = f"The cue {name} has passed {-seconds:.2f} s ago: shorten what comes before it."
        warnings.warn(text, stacklevel=2)
    stage.wait_nearly(scene, seconds)


def _of_file() -> dict[str, float]:
    if not _FILE.is_file():
        return {}
    try:
        return _checked(json.loads(_FILE.read_text(encoding="utf-8")), str(_FILE))
    except ValueError as error:
        raise SceneError(f"{_FILE} is no JSON: {error}.", kind="scene:file", hint=_HINT) from error


def _checked(cues: Any, source: str) -> dict[str, float]:
    if cues is None:
        return {}
    if isinstance(cues, dict) and all(isinstance(time, int | float) and time >= 0 for time in cues.values()):
        return {str(name): float(time) for name, time in cues.items()}
    raise SceneError(f"{source} has the seconds of each cue by its name.", kind="scene:value", hint=_HINT)
