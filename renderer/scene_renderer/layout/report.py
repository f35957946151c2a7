"""Makes findings of faults: one for those that are alike."""

from collections.abc import Iterable
from dataclasses import dataclass

from manim import Mobject

from ..messages import Box, Finding, FindingKind
from ..scene_error import finding
from .faults import Fault
from .source import Source
from .times import Moment

_FINDINGS_MAX = 20
_NAME_CHARACTERS_MAX = 100


@dataclass(frozen=True)
class Place:
    """When something was seen."""

    play: int
    line: int
    seconds: float


@dataclass(frozen=True)
class Reported:
    """A fault with its names and the line to change."""

    fault: Fault
    # The variable, or the class.
    name: str
    # What messages call it and the other mobject.
    label: str
    other: str
    line: int
    place: Place
    box: Box | None
    is_exempt: bool
    named: Mobject
    is_named: bool


def findings_of(faults: Iterable[Reported], moments: Iterable[Moment], source: Source) -> list[Finding]:
    """Return findings by line, at most twenty."""
    groups: dict[tuple[str, int], list[Reported]] = {}
    kept = _without_consequences([one for one in faults if not one.is_exempt])
    for one in sorted(kept, key=lambda one: (one.place.play, one.place.seconds)):
        groups.setdefault((one.fault.kind, one.line), []).append(one)
    found = [_merged(group, source) for group in groups.values()]
    lines: set[tuple[str, int]] = set()
    for moment in moments:
        if (moment.kind, moment.line) not in lines and not source.is_exempt(moment.line):
            lines.add((moment.kind, moment.line))
            found.append(_of_moment(moment, source))
    found.sort(key=lambda one: (one["line"] or 0, one["play"] or 0))
    return found[:_FINDINGS_MAX]


def _without_consequences(faults: list[Reported]) -> list[Reported]:
    """Leave out what is only seen because of another fault of the same mobject."""
    causes: dict[FindingKind, set[int]] = {}
    for one in faults:
        causes.setdefault(one.fault.kind, set()).update({id(one.fault.subject), id(one.fault.other)})
    return [
        one
        for one in faults
        if not any(
            id(one.fault.subject) in causes.get(cause, ()) for cause in _CAUSES.get(one.fault.kind, ())
        )
    ]


# Faults that explain another one of the same mobject.
_CAUSES: dict[FindingKind, tuple[FindingKind, ...]] = {
    "layout:contrast": ("layout:not-fixed", "layout:off-frame", "layout:overlap", "layout:crossed"),
    "layout:crossed": ("layout:not-fixed", "layout:off-frame", "layout:overlap"),
    "layout:overlap": ("layout:not-fixed", "layout:off-frame"),
    "layout:off-frame": ("layout:not-fixed",),
    "layout:small-text": ("layout:not-fixed",),
}


def _merged(group: list[Reported], source: Source) -> Finding:
    first = group[0]
    others = len({id(one.named) for one in group}) - 1
    also = f" and {others} other{'s' if others > 1 else ''}" if others else ""
    message = first.fault.message.replace("{name}", f"{first.label}{also}", 1)
    if others:
        for one, many in _PLURALS:
            message = message.replace(one, many, 1)
    message = message.replace("{other}", first.other)
    message = message[:1].upper() + message[1:]
    hint = first.fault.hint.replace("{other}", first.other)
    hint = hint.replace("`{name}`", f"`{first.name}`" if first.is_named else "it")
    hint = hint.replace("{name}", first.name if first.is_named else "mobject")
    found = finding(first.fault.kind, message, hint)
    found["severity"] = "warning"
    found["line"], found["sourceLine"] = first.line or None, source.line(first.line)
    found["play"] = first.place.play
    found["layout"] = {
        "mobject": first.name[:_NAME_CHARACTERS_MAX],
        "box": first.box,
        "seconds": round(first.place.seconds, 3),
    }
    return found


# After the names of several mobjects.
_PLURALS = (
    (" leaves ", " leave "),
    (" lies ", " lie "),
    (" is crossed", " are crossed"),
    (" is added", " are added"),
    (" seen: it is", " seen: they are"),
    (" seen: it has", " seen: they have"),
    (" is hard", " are hard"),
    (" is too small to be read: its", " are too small to be read: their"),
    (" has points", " have points"),
    (" is turned", " are turned"),
)


def _of_moment(moment: Moment, source: Source) -> Finding:
    found = finding(moment.kind, moment.message, moment.hint)
    found["severity"] = "warning"
    found["line"], found["sourceLine"] = moment.line or None, source.line(moment.line)
    found["play"] = moment.play
    found["layout"] = {"mobject": None, "box": None, "seconds": round(moment.seconds, 3)}
    return found
