"""What a scene shows at a moment: its mobjects in the order they are drawn in, and their places in the frame.

Places are relative to the middle of the frame, in the scene's units.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from manim import ManimColor, Mobject, Scene, VMobject, config
from manim.camera.three_d_camera import ThreeDCamera
from manim.utils.iterables import list_update

from ..messages import Box
from . import kinds
from .geometry import Array, contains, segments

_OPAQUE, _FADING = 0.85, 0.05
_COVERS_UNITS = 0.05  # an area that is smaller covers nothing of interest
_NO_COLOUR = (0.0, 0.0, 0.0, 0.0)
_BEZIER = 4


@dataclass
class Text:
    """A text that is shown: the indices of its glyphs, and its box."""

    unit: Mobject
    glyphs: Array
    lo: Array
    hi: Array
    # The usual height of a glyph.
    height: float
    # How opaque it is.
    alpha: float
    chain: tuple[Mobject, ...]
    # Whether a border around its glyphs sets it off from what is behind.
    has_border: bool


class Shown:
    """The leaves of a scene's mobjects that have points, in the order they are drawn in."""

    def __init__(self, scene: Scene, unit_of: Callable[[Mobject], Mobject | None], *, at_rest: bool) -> None:
        # In the middle of a play, what covers others may be fading in.
        self._least_cover = _OPAQUE if at_rest else _FADING
        camera: Any = scene.renderer.camera
        self.camera = camera
        self._unit_of = unit_of
        self.is_solid = isinstance(self.camera, ThreeDCamera) and not _is_flat(self.camera)
        self.width, self.height = float(self.camera.frame_width), float(self.camera.frame_height)
        self.leaves: list[Mobject] = []
        # The groups that a leaf is in, outermost first, ending with itself.
        self.chains: list[tuple[Mobject, ...]] = []
        self.units: list[Mobject | None] = []
        # Leaves with points that are no numbers, and their chains.
        self.broken: list[tuple[Mobject, ...]] = []
        self._collect(list_update(scene.mobjects, scene.foreground_mobjects))
        self._place()
        self._colour()

    def _collect(self, roots: Iterable[Mobject]) -> None:
        found: list[tuple[float, Mobject, tuple[Mobject, ...], Mobject | None]] = []
        seen: set[int] = set()
        pending: list[tuple[Mobject, tuple[Mobject, ...], Mobject | None]]
        pending = [(root, (), None) for root in reversed(list(roots))]
        while pending:
            mobject, above, unit = pending.pop()
            if id(mobject) in seen:
                continue
            seen.add(id(mobject))
            chain = (*above, mobject)
            if kinds.is_no_glyph(mobject):
                unit = None
            elif unit is None:
                unit = self._unit_of(mobject)
            if isinstance(getattr(mobject, "points", None), np.ndarray) and len(mobject.points):
                found.append((mobject.z_index, mobject, chain, unit))
            pending.extend((inner, chain, unit) for inner in reversed(mobject.submobjects))
        found.sort(key=lambda leaf: leaf[0])
        for _, mobject, chain, unit in found:
            if not np.isfinite(mobject.points.sum()):
                self.broken.append(chain)
            elif not self.is_solid or unit is not None:  # in a room, only texts are looked at
                self.leaves.append(mobject)
                self.chains.append(chain)
                self.units.append(unit)

    def _place(self) -> None:
        parts: list[Array] = [self._points(leaf) for leaf in self.leaves]
        lengths = [len(part) for part in parts]
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
        self.points: Array = np.concatenate(parts)[:, :2] if parts else np.zeros((0, 2))
        if parts:
            self.lo = np.minimum.reduceat(self.points, self.starts[:-1])
            self.hi = np.maximum.reduceat(self.points, self.starts[:-1])
        else:
            self.lo = self.hi = np.zeros((0, 2))

    def _points(self, leaf: Mobject) -> Array:
        points = leaf.points
        if isinstance(self.camera, ThreeDCamera):
            projected: Array = self.camera.transform_points_pre_display(leaf, points)
            return projected
        moved: Array = points - self.camera.frame_center
        return moved

    def _colour(self) -> None:
        self.fill = np.array([_first(leaf, "fill_rgbas") for leaf in self.leaves]).reshape(-1, 4)
        self.stroke = np.array([_first(leaf, "stroke_rgbas") for leaf in self.leaves]).reshape(-1, 4)
        self.line = np.array([_number(leaf, "stroke_width") for leaf in self.leaves])
        self.stroke[self.line <= 0, 3] = 0
        # Of pictures and clouds of points, nothing is known.
        self.is_drawn = np.array([isinstance(leaf, VMobject) for leaf in self.leaves], bool)
        self.alpha = np.maximum(self.fill[:, 3], self.stroke[:, 3])
        self.is_shape = np.array([unit is None for unit in self.units], bool) & self.is_drawn
        self.background: Array = np.array(ManimColor.parse(self.camera.background_color).to_rgb())

    def is_like(self, other: "Shown | None") -> bool:
        """Whether the same is shown in the same places and colours."""
        return (
            other is not None
            and (self.width, self.height) == (other.width, other.height)
            and len(self.broken) == len(other.broken)
            and len(self.leaves) == len(other.leaves)
            and all(a is b for a, b in zip(self.leaves, other.leaves, strict=True))
            and np.array_equal(self.points, other.points)
            and np.array_equal(self.fill, other.fill)
            and np.array_equal(self.stroke, other.stroke)
        )

    @cached_property
    def texts(self) -> list[Text]:
        """The texts of which something is to be seen."""
        by_unit: dict[int, list[int]] = {}
        for index, unit in enumerate(self.units):
            if unit is not None and self.alpha[index] > 0 and self._has_size(index):
                by_unit.setdefault(id(unit), []).append(index)
        found = []
        for indices in by_unit.values():
            glyphs = np.array(indices)
            unit = self.units[indices[0]]
            assert unit is not None
            sizes = self.hi[glyphs] - self.lo[glyphs]
            chain = self.chains[indices[0]]
            chain = chain[: chain.index(unit) + 1] if unit in chain else chain
            found.append(
                Text(
                    unit,
                    glyphs,
                    self.lo[glyphs].min(axis=0),
                    self.hi[glyphs].max(axis=0),
                    _middle(sizes[:, 1]),
                    _middle(self.alpha[glyphs]),
                    chain,
                    _number(self.leaves[indices[0]], "background_stroke_width") > 0,
                )
            )
        return found

    def _has_size(self, index: int) -> bool:
        return bool((self.hi[index] - self.lo[index]).max() > 1e-3)

    @cached_property
    def covers(self) -> list[int]:
        """The leaves that hide what is behind them, as far as it is within their outline."""
        sizes = (self.hi - self.lo).prod(axis=1)
        least = self._least_cover
        wide = np.flatnonzero((self.fill[:, 3] >= least) & (sizes > _COVERS_UNITS) & self.is_drawn)
        return [int(index) for index in wide if self.units[index] is None]

    def outline(self, index: int) -> Array:
        """Return the corners of a leaf, and of a curve points on it."""
        points = self.of(index)
        if self.is_drawn[index] and len(points) % _BEZIER == 0:
            return points[::2] if len(points) < 200 else points[::_BEZIER]
        return points

    def of(self, index: int) -> Array:
        """Return the points of a leaf."""
        return self.points[self.starts[index] : self.starts[index + 1]]

    def segments(self, index: int) -> Array:
        """Return the lines that a leaf is drawn with."""
        return segments(self.of(index))

    def covered(self, index: int, spots: Array) -> Array:
        """Return which points of a leaf are hidden behind others."""
        hidden = np.zeros(len(spots), bool)
        for cover in self.covers:
            if cover > index and (self.lo[cover] < spots).all(axis=1).any():
                if (self.lo[cover] > spots.max(axis=0)).any() or (self.hi[cover] < spots.min(axis=0)).any():
                    continue
                hidden |= contains(self.outline(cover), spots)
        return hidden

    def box_of(self, group: Mobject) -> tuple[Array, Array]:
        """Return the box of all leaves of a group."""
        inner = [index for index, chain in enumerate(self.chains) if any(part is group for part in chain)]
        return self.lo[inner].min(axis=0), self.hi[inner].max(axis=0)

    def is_covered(self, text: Text) -> bool:
        """Whether most of a text is hidden."""
        centres = (self.lo[text.glyphs] + self.hi[text.glyphs]) / 2
        return bool(self.covered(int(text.glyphs[-1]), centres).mean() > 0.5)

    def box(self, lo: Array, hi: Array) -> Box:
        """Return a box as a part of the frame as it is without a camera that moves."""
        scale = float(config.frame_height) / self.height
        left, bottom, right, top = (round(float(value) * scale, 3) for value in (*lo, *hi))
        return {"left": left, "right": right, "bottom": bottom, "top": top}


def _middle(values: Array) -> float:
    """Return the median, or the larger of two, without NumPy's many steps."""
    return float(np.sort(values)[len(values) // 2])


def _first(leaf: Mobject, name: str) -> Any:
    colours = getattr(leaf, name, None)
    return colours[0] if isinstance(colours, np.ndarray) and len(colours) else _NO_COLOUR


def _number(leaf: Mobject, name: str) -> float:
    value = getattr(leaf, name, 0)
    return float(value) if isinstance(value, int | float | np.number) else 0.0


def _is_flat(camera: ThreeDCamera) -> bool:
    """Whether the camera looks straight down, as without a third dimension."""
    rotation = camera.get_rotation_matrix()
    return bool(np.allclose(rotation, np.eye(3), atol=1e-2))
