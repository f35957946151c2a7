"""The replacement that is certainly meant, for what a finding is about."""

import re
from collections.abc import Mapping

from ..messages import FindingKind, Fix
from .advice import Advice
from .edits import derived, imported
from .place import Span, whole_line

# Which part of what was found is replaced.
_REPLACED: Mapping[FindingKind, re.Pattern[str]] = {
    "scene:name": re.compile(r"^\w+$"),
    "scene:attribute": re.compile(r"\w+$"),
    "scene:argument": re.compile(r"^\w+(?=\s*=)"),
    "scene:type": re.compile(r"^(?:'\w+'|\"\w+\")$"),
}
# Hints that name one replacement.
_NAMES_ONE = re.compile(r"(?:^|\. )Did you mean `|: use `[\w.]+`\.$")
_IMPORTS = re.compile(r"^Import it: `([^`]+)`")
_DERIVES = re.compile(r"^Make the scene a subclass of `(\w+)`")


def fix_of(advice: Advice, span: Span, code: str) -> Fix | None:
    """Return what to write instead of a part of a line of the code; None if that is not certain.

    `span`: where the finding is.
    """
    hint = advice.hint or ""
    if advice.fix is not None:
        return advice.fix
    if match := _IMPORTS.match(hint):
        return imported(match[1], span, code)
    if match := _DERIVES.match(hint):
        return derived(match[1], span.line, code)
    return _of_name(advice, span, whole_line(code, span.line))


def _of_name(advice: Advice, span: Span, line: str | None) -> Fix | None:
    part, start, end = _REPLACED.get(advice.kind), span.column, span.end_column
    if part is None or line is None or start is None or end is None or span.end_line != span.line:
        return None
    found = part.search(line[start - 1 : end - 1])
    if found is None or not advice.candidates or not _NAMES_ONE.search(advice.hint or ""):
        return None
    return {
        "line": span.line,
        "column": start + found.start(),
        "endColumn": start + found.end(),
        "text": advice.candidates[0],
    }
