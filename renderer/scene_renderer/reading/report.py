"""Collects findings, in the words of the advice for errors."""

import ast
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..advice.advice import Advice
from ..advice.causes import advise
from ..advice.fixes import fix_of
from ..advice.names import import_hint
from ..advice.place import Names, Place, Span, locate, span_of
from ..messages import Finding
from ..scene_error import SceneError, finding
from .values import Value, shown

FINDINGS_MAX = 20
_HELD_MAX = 200


@dataclass
class Report:
    """What was found so far."""

    code: str
    lines: list[bytes]
    is_local: bool = False
    found: dict[tuple[int, int, str], Finding] = field(default_factory=dict)
    # Not 0 while code is read only for its values.
    silent: int = 0
    # The errors that the code around catches; None: all.
    caught: list[tuple[type[BaseException], ...] | None] = field(default_factory=list)

    @contextmanager
    def silenced(self) -> Iterator[None]:
        """Report nothing meanwhile."""
        self.silent += 1
        try:
            yield
        finally:
            self.silent -= 1

    def is_caught(self, error: BaseException) -> bool:
        """Whether an error would be caught."""
        return any(kinds is None or isinstance(error, kinds) for kinds in self.caught)

    def takes(self, error: BaseException, node: ast.expr | ast.stmt) -> bool:
        """Whether an error that is raised there would be among the findings."""
        if self.silent or len(self.found) >= _HELD_MAX or self.is_caught(error):
            return False
        # What is found inside the node is at its line or below it.
        return sum(line < node.lineno for line, _, _ in self.found) < FINDINGS_MAX

    def error(
        self,
        error: BaseException,
        node: ast.expr | ast.stmt,
        names: Mapping[str, object],
        values: Mapping[ast.AST, Value],
        *,
        message: str | None = None,
        advice: Advice | None = None,
        is_warning: bool = False,
    ) -> None:
        """Note an error that is taken. `names`, `values`: what is known at the expression or statement."""
        span = self.span(node)
        if advice is None:
            around = {*ast.walk(node)}
            things = {part: shown(value) for part, value in values.items() if part in around}
            frame = Names(dict(names), things)
            place = Place(span, node if isinstance(node, ast.expr) else None, frame)
            advice = _advice(error, place, self.code)
        kind = error.kind if isinstance(error, SceneError) else advice.kind
        text = f"{type(error).__name__}: {error}" if not isinstance(error, SceneError) else str(error)
        if isinstance(error, ModuleNotFoundError):
            text += import_hint(error.name or "", is_local=self.is_local)
        one = finding(kind, message or text, advice.hint, advice.candidates)
        if isinstance(error, SceneError):
            one["hint"], one["candidates"] = error.hint, list(error.candidates)
        span = advice.span or span
        locate(one, span, self.code)
        one["fix"] = fix_of(advice, span, self.code)
        if is_warning:
            one["severity"] = "warning"
        self.add(one)

    def add(self, one: Finding) -> None:
        """Add a finding, once."""
        self.found.setdefault((one["line"] or 0, one["column"] or 0, one["kind"]), one)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        """Return where Python says that an error of an expression is: of a chain, at its last name."""
        attribute = node.func if isinstance(node, ast.Call) else node
        if not isinstance(attribute, ast.Attribute) or attribute.end_lineno in (None, node.lineno):
            return span_of(node, self.code, self.lines)
        length = len(attribute.attr.encode())
        start = (attribute.end_col_offset or 0) - length
        moved = ast.copy_location(ast.Name(attribute.attr, ast.Load()), node)
        moved.lineno, moved.col_offset = attribute.end_lineno or node.lineno, max(0, start)
        return span_of(moved, self.code, self.lines)

    def sorted(self) -> list[Finding]:
        """Return the findings in the order of their lines."""
        order = sorted(self.found, key=lambda key: key[:2])
        return [self.found[key] for key in order][:FINDINGS_MAX]


def _advice(error: BaseException, place: Place, code: str) -> Advice:
    try:
        return advise(error, place, code)
    except Exception:  # of an object that only stands for another
        return Advice("scene:error")
