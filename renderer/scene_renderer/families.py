"""Lists the family of a mobject, itself and all mobjects in it, faster than Manim, in the same order."""

from manim import Mobject

_manims_own = Mobject.get_family


def list_directly() -> None:
    """Replace the listing for Manim's mobjects and those of scenes."""
    Mobject.get_family = _get_family  # type: ignore[method-assign]


def _get_family(self: Mobject, recurse: bool = True) -> list[Mobject]:
    """Return the mobject and those in it, each before those in it, in the order of ``submobjects``."""
    family: list[Mobject] = []
    seen: set[Mobject] = set()
    waiting = [self]
    while waiting:
        member = waiting.pop()
        if member in seen:  # it is in two groups, or in itself
            return _manims_own(self, recurse)
        seen.add(member)
        family.append(member)
        waiting.extend(reversed(member.submobjects))
    return family
