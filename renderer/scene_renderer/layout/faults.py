"""A fault of the layout, before its names and lines are known."""

from dataclasses import dataclass, field

import numpy as np
from manim import Mobject

from ..messages import FindingKind
from .geometry import Array


@dataclass
class Fault:
    """What is wrong with a mobject at a moment.

    `message` and `hint` contain `{name}` and `{other}` for the names of the mobject and another one;
    `chain`: the groups that the mobject is in, outermost first, ending with itself; `is_placed`: it is wrong
    where a group is, so the outermost that has placed it is named; `alternative`: the same fault, of the
    other mobject.
    """

    kind: FindingKind
    subject: Mobject
    message: str
    hint: str
    lo: Array
    hi: Array
    chain: tuple[Mobject, ...] = ()
    other: Mobject | None = None
    other_chain: tuple[Mobject, ...] = ()
    is_placed: bool = True
    alternative: "Fault | None" = field(default=None, repr=False)
    # Only if it was moved there: shapes may lie across the edge on purpose.
    is_shape: bool = False
    # Not if it is mended later: a text may be invisible until it is revealed.
    is_revocable: bool = False

    @property
    def key(self) -> tuple[str, frozenset[int]]:
        """What the same fault at another moment has in common with it."""
        return self.kind, frozenset({id(self.subject), id(self.other)})


def move_hint(shift: Array) -> str:
    """Say in words how to move by a vector."""
    words = []
    for amount, positive, negative in ((shift[0], "right", "left"), (shift[1], "up", "down")):
        if abs(amount) >= 0.005:
            words.append(f"{positive if amount > 0 else negative} by {_rounded_up(abs(float(amount)))}")
    return " and ".join(words) or "a little"


def _rounded_up(amount: float) -> str:
    return f"{np.ceil(amount * 10) / 10:g}"
