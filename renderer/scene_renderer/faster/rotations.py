"""Keeps the matrices of rotations, which Manim computes again for each mobject of a group.

When a group is rotated or flipped, the direction of each mobject's sheen is rotated, too.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from manim import OUT, VMobject
from manim.utils import space_ops

from ..replacing import replace

_manims_own = vars(space_ops)["Rotation"]
_MATRICES_MAX = 256


def keep_matrices() -> None:
    """Replace the class of SciPy that Manim computes rotations with, and the rotation of directions."""
    replace(space_ops, Rotation=_Rotation)
    replace(VMobject, rotate_sheen_direction=_rotate_sheen_direction)


class _Rotation:
    """Stands for a rotation of SciPy."""

    def __init__(self, matrix: npt.NDArray[np.float64]) -> None:
        self._matrix = matrix

    @staticmethod
    def from_rotvec(vector: Any) -> Any:
        """Return the rotation about a vector, by an angle that is its length."""
        if type(vector) is not np.ndarray or vector.dtype != np.float64 or vector.shape != (3,):
            return _manims_own.from_rotvec(vector)
        return _Rotation(_matrix(vector.tobytes()))

    def as_matrix(self) -> npt.NDArray[np.float64]:
        """Return a matrix that the caller may change."""
        return self._matrix.copy(order="K")


@lru_cache(_MATRICES_MAX)
def _matrix(vector: bytes) -> npt.NDArray[np.float64]:
    matrix: npt.NDArray[np.float64] = _manims_own.from_rotvec(np.frombuffer(vector).copy()).as_matrix()
    return matrix


def _rotate_sheen_direction(self: VMobject, angle: float, axis: Any = OUT, family: bool = True) -> VMobject:
    """Rotate the direction of the sheen."""
    members: list[Any] = self.get_family() if family else [self]
    matrix: Any = None
    for member in members:
        direction = member.sheen_direction
        if type(direction) is np.ndarray and direction.shape == (3,):
            if matrix is None:
                matrix = space_ops.rotation_matrix(angle, axis)
            member.sheen_direction = matrix @ direction
        else:
            member.sheen_direction = space_ops.rotate_vector(direction, angle, axis)
    return self
