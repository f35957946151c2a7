"""Failures of a scene whose message its author gets."""

from dataclasses import dataclass

from .messages import Finding, FindingKind, SceneFault

_HINT_CHARACTERS_MAX = 500
_NAME_CHARACTERS_MAX = 100
_CANDIDATES_MAX = 5


class SceneError(Exception):
    """A failure whose message is shown to the scene's author.

    `kind`: default that of `failed_by`, or `scene:error`; `hint`: what to do about it, in a sentence;
    `candidates`: what can be written instead; `line`: where, if no traceback tells.
    """

    def __init__(
        self,
        message: str,
        failed_by: SceneFault = "scene",
        *,
        kind: FindingKind | None = None,
        hint: str | None = None,
        candidates: tuple[str, ...] = (),
        line: int | None = None,
    ) -> None:
        super().__init__(message)
        self.failed_by: SceneFault = failed_by
        self.kind: FindingKind = kind or kind_of(failed_by)
        self.hint = hint
        self.candidates = candidates
        self.line = line


@dataclass(frozen=True)
class Failure:
    """Why a scene failed: in text for its author, what it failed by, and what is known about it."""

    error: str
    failed_by: SceneFault
    finding: Finding


def kind_of(failed_by: SceneFault) -> FindingKind:
    """Return the kind of a failure about which nothing else is known."""
    return "scene:error" if failed_by == "scene" else failed_by


def failure_of(error: SceneError) -> Failure:
    """Return a failure that has no place in the scene's code."""
    return Failure(str(error), error.failed_by, finding(error.kind, str(error), error.hint, error.candidates))


def finding(
    kind: FindingKind, message: str, hint: str | None = None, candidates: tuple[str, ...] = ()
) -> Finding:
    """Return an error without a place."""
    return {
        "kind": kind,
        "severity": "error",
        "message": message,
        "line": None,
        "column": None,
        "endLine": None,
        "endColumn": None,
        "sourceLine": None,
        "hint": hint and hint[:_HINT_CHARACTERS_MAX],
        "candidates": [name[:_NAME_CHARACTERS_MAX] for name in candidates[:_CANDIDATES_MAX]],
        "fix": None,
        "tex": None,
        "layout": None,
        "play": None,
        "calls": [],
    }


def too_large(limit_bytes: int, noun: str = "video") -> SceneError:
    """Return the error for an output that exceeds the size limit."""
    message = f"The {noun} is larger than the limit of {round(limit_bytes / (1 << 20))} MiB."
    return SceneError(message, "limit:output")


def too_long(limit: int) -> SceneError:
    """Return the error for a video that exceeds the limit of frames."""
    return SceneError(f"The video is longer than the limit of {limit} frames.", "limit:frames")
