"""Finds texts in a room that can't be read because they are turned away from the camera."""

from collections.abc import Iterator

import numpy as np

from . import kinds
from .faults import Fault
from .geometry import Array
from .shown import Shown, Text

_GLYPHS_LEAST = 3  # the name of an axis or a point may lie in the room
_FLAT_MOST = 0.68  # of its height or width is left, in the direction in which it is flattened
_TILT_MOST = 0.5  # radians
_DIM = 0.5


def find(shown: Shown) -> Iterator[Fault]:
    """Yield texts that are neither fixed in the frame nor face the camera."""
    if not shown.is_solid:
        return
    fixed = shown.camera.fixed_in_frame_mobjects | set(shown.camera.fixed_orientation_mobjects)
    for text in shown.texts:
        if len(text.glyphs) < _GLYPHS_LEAST or text.alpha < _DIM:
            continue
        leaves = [shown.leaves[index] for index in text.glyphs]
        if all(leaf in fixed for leaf in leaves) or any(map(kinds.is_coordinate_system, text.chain)):
            continue
        if _is_turned(shown, text):
            yield Fault(
                "layout:not-fixed",
                text.unit,
                "{name} lies in the room and is turned away from the camera.",
                "Call `self.add_fixed_in_frame_mobjects({name})`, or `self.add_fixed_orientation_mobjects"
                "({name})` for a label that stays at its place in the room.",
                text.lo,
                text.hi,
                chain=text.chain,
                is_placed=False,
            )


def _is_turned(shown: Shown, text: Text) -> bool:
    """Whether the text is far from horizontal, flattened, or mirrored, on the screen.

    The directions of its writing are those of its points in the room: along the line, and upwards.
    """
    room = np.concatenate([shown.leaves[index].points for index in text.glyphs])
    screen = np.concatenate([shown.of(int(index)) for index in text.glyphs])
    centred, seen = room - room.mean(axis=0), screen - screen.mean(axis=0)
    first = shown.leaves[text.glyphs[0]].points.mean(axis=0)
    last = shown.leaves[text.glyphs[-1]].points.mean(axis=0)
    along = last - first
    length = float(np.linalg.norm(along))
    if length < 1e-6:
        return False
    along = along / length
    # What is left of the points when those along the line are taken away: upwards, if the text is flat.
    rest = centred - np.outer(centred @ along, along)
    upwards = np.linalg.svd(rest, full_matrices=False)[2][0]
    axes = np.stack([centred @ along, centred @ upwards], axis=1)
    mapping, *_ = np.linalg.lstsq(axes, seen, rcond=None)
    line = mapping[0]
    largest, smallest = np.linalg.svd(mapping, compute_uv=False)
    if smallest < _FLAT_MOST * largest:
        return True
    tilt = abs(float(np.arctan2(line[1], line[0])))
    return tilt > _TILT_MOST and _is_level(along)


def _is_level(along: Array) -> bool:
    """Whether the author hasn't turned the text: it runs along the first axis of the room."""
    return bool(along[0] > 0.9)
