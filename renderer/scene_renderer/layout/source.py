"""The author's code: its lines, and where a comment exempts them."""

import ast
import re

_OK = re.compile(r"#\s*layout:\s*ok\b")
_ASSIGNED = re.compile(r"(\w+)\s*=\s*(\w+)\(")
_LINE_CHARACTERS_MAX = 200


class Source:
    """The code of a scene."""

    def __init__(self, code: str) -> None:
        self._lines = re.split(r"\r\n|\r|\n", code)
        marked = {number for number, line in enumerate(self._lines, start=1) if _OK.search(line)}
        self._exempt = marked and marked | _lines_of_statements(code, marked)

    def line(self, number: int) -> str | None:
        """Return the text of a line, as findings show it."""
        if not 1 <= number <= len(self._lines):
            return None
        return self._lines[number - 1].strip()[:_LINE_CHARACTERS_MAX]

    def target(self, number: int, kind: str) -> str | None:
        """Return the variable to which a line assigns what it makes of a class; None if it does not."""
        match = _ASSIGNED.match(self.line(number) or "")
        return match[1] if match and match[2] == kind else None

    def is_exempt(self, *numbers: int) -> bool:
        """Whether the author has marked one of these lines, or a line of the same statement."""
        return any(number in self._exempt for number in numbers)


def _lines_of_statements(code: str, marked: set[int]) -> set[int]:
    """Return the lines of the innermost statements that contain marked lines."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if any(line in marked for line in lines):
                found.update(lines)
    return found
