"""What is known about an error besides its message."""

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ..messages import FindingKind, Fix
from .place import Span
from .renamed import Renamed

CANDIDATES_MAX = 5
_SIMILARITY = 0.7
_MISSPELLED = 0.8
_SAME_WORD = 0.5


@dataclass(frozen=True)
class Advice:
    """What kind of error it is, what to do about it, and what can be written instead."""

    kind: FindingKind
    hint: str | None = None
    candidates: tuple[str, ...] = ()
    # Where exactly, if that is known better than by the traceback.
    span: Span | None = None
    # What is certainly meant, where that does not follow from the rest.
    fix: Fix | None = None


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names that are most like a name, the likeliest first."""
    names = sorted({other for other in known if not other.startswith("_")})
    folded = name.replace("_", "").casefold()
    same = [other for other in names if other.replace("_", "").casefold() == folded]
    singular = _singular(name)
    other_number = [other for other in names if other != name and _singular(other) == singular]
    words = set(name.split("_"))
    longer = [other for other in names if words < set(other.split("_"))]
    close = difflib.get_close_matches(name, names, n=CANDIDATES_MAX, cutoff=_SIMILARITY)
    misspelled = [other for other in close if _likeness(name, other) >= _MISSPELLED]
    # A name whose words are in one other name only, such as `center` in `arc_center`.
    meant = longer if len(longer) == 1 else []
    sure = [*same, *other_number]
    found = dict.fromkeys([*sure, *misspelled, *meant, *close])
    return tuple(other for other in found if other in sure or _has_same_words(name, other))[:CANDIDATES_MAX]


def _likeness(name: str, other: str) -> float:
    # The order matters: `get_close_matches` compares in this one.
    return difflib.SequenceMatcher(None, other, name).ratio()


def _singular(name: str) -> str:
    for plural, singular in (("ices", "ex"), ("ies", "y"), ("s", "")):
        if name.endswith(plural):
            return name.removesuffix(plural) + singular
    return name


def _has_same_words(name: str, other: str) -> bool:
    """Whether no word is exchanged for another one: `get_color` is no misspelling of `change_color`."""
    words, others = name.casefold().split("_"), other.casefold().split("_")
    if len(words) != len(others) or len(words) < 2:
        return True
    if {words[0], others[0]} == {"get", "set"}:
        return False
    exchanged = [
        difflib.SequenceMatcher(None, one, another).ratio() < _SAME_WORD
        for one, another in zip(words, others, strict=True)
    ]
    # Of a long name, such as `point_from_angle`, a small word may be another one.
    return not exchanged[0] and sum(exchanged) <= (len(words) > 2)


def did_you_mean(candidates: Collection[str]) -> str | None:
    """Return a question that names the likeliest candidate; None if there is none."""
    return f"Did you mean `{next(iter(candidates))}`?" if candidates else None


def instead(old: str, new: Renamed) -> str:
    """Return a sentence that says what to write instead of a name."""
    return new.advice or f"Manim has no `{old}`: use `{new.name}`."
