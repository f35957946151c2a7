"""What a rule says about an error."""

from collections.abc import Callable
from dataclasses import dataclass

from ..messages import Fix
from .place import Place


@dataclass(frozen=True)
class Mend:
    """A replacement, if it can be written, and what is said instead of the hint, if that is more."""

    fix: Fix | None
    hint: str | None = None


Rule = Callable[[BaseException, Place, str], Mend | None]
