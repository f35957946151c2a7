"""Boxes, lines and areas on the screen, as arrays of NumPy."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# Where cubic curves are evaluated to draw them as lines.
_T = np.array([0.0, 0.25, 0.5, 0.75])[:, None, None]
_WEIGHTS = ((1 - _T) ** 3, 3 * (1 - _T) ** 2 * _T, 3 * (1 - _T) * _T**2, _T**3)


def segments(points: Array) -> Array:
    """Return the lines, as x and y of both ends, of the cubic curves with these points."""
    count = len(points) // 4
    if not count:
        return np.zeros((0, 4))
    a, b, c, d = (points[part : count * 4 : 4] for part in range(4))
    along = sum(weight * part for weight, part in zip(_WEIGHTS, (a, b, c, d), strict=True))
    ends = np.concatenate([np.asarray(along), d[None]])
    return np.concatenate([ends[:-1], ends[1:]], axis=2).reshape(-1, 4)


def length_within(lines: Array, lo: Array, hi: Array) -> Array:
    """Return for each box how much of the lines lies in it."""
    start, step = lines[:, None, :2], (lines[:, 2:] - lines[:, :2])[:, None]
    safe = np.where(np.abs(step) < 1e-9, 1e-9, step)
    one, other = (lo[None] - start) / safe, (hi[None] - start) / safe
    begin = np.clip(np.minimum(one, other).max(axis=2), 0, 1)
    end = np.clip(np.maximum(one, other).min(axis=2), 0, 1)
    lengths = np.hypot(step[..., 0], step[..., 1])
    return np.asarray((np.maximum(end - begin, 0) * lengths).sum(axis=0))


def touching(lo: Array, hi: Array, box_lo: Array, box_hi: Array) -> Array:
    """Return which boxes meet a box."""
    return np.asarray(((lo < box_hi) & (hi > box_lo)).all(axis=1))


def contains(polygon: Array, spots: Array) -> Array:
    """Return which points lie inside a polygon, by the number of its edges to their right."""
    if len(polygon) < 3:
        return np.zeros(len(spots), bool)
    x, y = spots[:, 0, None], spots[:, 1, None]
    ax, ay = polygon[:, 0], polygon[:, 1]
    bx, by = np.roll(ax, -1), np.roll(ay, -1)
    spans = (ay > y) != (by > y)
    height = np.where(by == ay, 1e-12, by - ay)
    crossed = (spans & (x < (bx - ax) * (y - ay) / height + ax)).sum(axis=1)
    return np.asarray(np.mod(crossed, 2) == 1)


def distances(spots: Array, lines: Array) -> Array:
    """Return how far each point is from the nearest of some lines; infinite if there are none."""
    if not len(lines):
        return np.full(len(spots), np.inf)
    start, step = lines[None, :, :2], (lines[:, 2:] - lines[:, :2])[None]
    length = np.maximum((step**2).sum(axis=2), 1e-12)
    away = spots[:, None] - start
    along = np.clip((away * step).sum(axis=2) / length, 0, 1)
    rest = away - along[..., None] * step
    return np.asarray(np.hypot(rest[..., 0], rest[..., 1]).min(axis=1))
