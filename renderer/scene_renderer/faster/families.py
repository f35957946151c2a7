"""Lists the family of a mobject, itself and all mobjects in it, faster than Manim, in the same order."""

from typing import Any

import numpy as np
from manim import Mobject, VMobject

import scenepress_native

from ..replacing import replace

_manims_family = Mobject.get_family
_manims_members = Mobject.family_members_with_points
_manims_boundary = VMobject.get_points_defining_boundary
_iter_family = Mobject._iter_family
_get_num_points = Mobject.get_num_points
_get_anchors = VMobject.get_anchors


def list_directly() -> None:
    """Replace the listings for Manim's and the scene's mobjects."""
    replace(Mobject, get_family=_get_family, family_members_with_points=_family_members_with_points)
    replace(VMobject, get_points_defining_boundary=_get_points_defining_boundary)


def _get_family(self: Mobject, recurse: bool = True) -> list[Mobject]:
    """Return the mobject and those in it, each before those in it, in the order of ``submobjects``."""
    family = scenepress_native.get_family(self, _iter_family)
    return _manims_family(self, recurse) if family is None else family


def _family_members_with_points(self: Mobject) -> list[Mobject]:
    """Return those members of the family that have points themselves."""
    members = scenepress_native.with_points(self.get_family(), _get_num_points)
    return _manims_members(self) if members is None else members


def _get_points_defining_boundary(self: VMobject) -> np.ndarray[Any, Any]:
    """Return the ends of all curves. Centres, widths and places of mobjects are computed from them."""
    anchors = scenepress_native.get_anchors(self.get_family(), _get_anchors)
    return _manims_boundary(self) if anchors is None else anchors
