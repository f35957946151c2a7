"""Keeps the points of arcs, which Manim computes again for each dot and circle."""

from typing import Any

import numpy as np
import numpy.typing as npt
from manim import Arc

from ..replacing import replace

_manims_own = Arc._set_pre_positioned_points
_set_anchors_and_handles = Arc.set_anchors_and_handles
_NUMBERS = {int, float, np.float64}
_ARCS_MAX = 256
_known: dict[str, npt.NDArray[np.float64]] = {}


def keep_points() -> None:
    """Replace how Manim's and the scene's arcs get their points before they are scaled and moved."""
    replace(Arc, _set_pre_positioned_points=_set_pre_positioned_points)


def _set_pre_positioned_points(self: Any) -> None:
    settings = self.start_angle, self.angle, self.num_components
    if (
        not set(map(type, settings)) <= _NUMBERS
        or type(self).set_anchors_and_handles is not _set_anchors_and_handles
        or (self.n_points_per_cubic_curve, self.dim) != (4, 3)
    ):
        _manims_own(self)
        return
    key = repr(settings)  # zeros have signs
    known = _known.get(key)
    if known is not None:
        self.points = known.copy()
        return
    _manims_own(self)
    if len(_known) < _ARCS_MAX:
        _known[key] = self.points.copy()
