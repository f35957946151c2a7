"""The replacement that is certainly meant, for what a finding is about."""

import re
from collections.abc import Mapping

from ..messages import FindingKind, Fix
from .place import Span

# Which part of what was found is replaced.
_REPLACED: Mapping[FindingKind, re.Pattern[str]] = {
    "scene:name": re.compile(r"^\w+$"),
    "scene:attribute": re.compile(r"\w+$"),
    "scene:argument": re.compile(r"^\w+(?=\s*=)"),
    "scene:type": re.compile(r"^(?:'\w+'|\"\w+\")$"),
}
# Hints that name one replacement.
_NAMES_ONE = re.compile(r"^Did you mean `|: use `[\w.]+`\.$")


def fix_of(
    kind: FindingKind, hint: str | None, candidates: tuple[str, ...], span: Span, line: str | None
) -> Fix | None:
    """Return what to write instead of a part of a line; None if that is not certain.

    `line`: the text of the line of `span`, with its indentation.
    """
    part, start, end = _REPLACED.get(kind), span.column, span.end_column
    if part is None or line is None or start is None or end is None or span.end_line != span.line:
        return None
    found = part.search(line[start - 1 : end - 1])
    if found is None or not candidates or not _NAMES_ONE.search(hint or ""):
        return None
    return {"column": start + found.start(), "endColumn": start + found.end(), "text": candidates[0]}
