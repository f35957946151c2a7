"""What is known while a source is read."""

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType

from ..advice.advice import Advice
from .report import Report
from .scopes import Definition, Scope
from .values import UNKNOWN, Function, Value, exactly, joined, shown

_STEPS_MAX = 60_000
_BUILTINS = vars(builtins)


class TooLongError(Exception):
    """The source is too long to be read to its end."""


@dataclass(eq=False)
class Body:
    """A function whose statements are read later."""

    node: Definition | ast.Lambda
    parent: Scope
    owner: type | None
    is_static: bool = False
    caught: list[tuple[type[BaseException], ...] | None] = field(default_factory=list)


@dataclass
class Reading:
    """The state of reading a source."""

    tree: ast.Module
    report: Report
    scope: Scope
    # Attributes that any object may have, because code assigns them or asks whether they are there.
    free: set[str]
    # Names that may come from anywhere.
    is_wild: bool = False
    is_attributes_wild: bool = False
    # What is assigned to attributes, whatever the object.
    assigned: dict[str, Value] = field(default_factory=dict)
    has_read_all: bool = False
    functions: dict[FunctionType, Function] = field(default_factory=dict)
    owners: dict[FunctionType, type] = field(default_factory=dict)
    classes: dict[type, ast.ClassDef] = field(default_factory=dict)
    values: dict[ast.AST, Value] = field(default_factory=dict)
    generators: dict[ast.AST, bool] = field(default_factory=dict)
    later: list[Body] = field(default_factory=list)
    results: dict[ast.AST, Value] = field(default_factory=dict)
    is_dead: bool = False
    # Not 0 where it depends on something unknown whether code is run.
    conditional: int = 0
    # What the first parameters of functions are, if that is certain.
    parameters: dict[ast.AST, Value] = field(default_factory=dict)
    returned: list[Value] = field(default_factory=list)
    steps: int = 0
    # Set by `flow`, which this can't import.
    read: Callable[["Reading", list[ast.stmt]], None] = lambda *_: None
    result_of: Callable[["Reading", Function, type | None], Value] = lambda *_: UNKNOWN

    def step(self) -> None:
        """Count an expression. Raises TooLongError."""
        self.steps += 1
        if self.steps > _STEPS_MAX:
            raise TooLongError

    def error(
        self,
        error: BaseException,
        node: ast.expr | ast.stmt,
        *,
        message: str | None = None,
        advice: Advice | None = None,
        is_warning: bool = False,
    ) -> None:
        """Report an error, unless it can't be reached or would be left out."""
        if self.is_dead or not self.report.takes(error, node):
            return
        self.report.error(
            error, node, self.visible(), self.values, message=message, advice=advice, is_warning=is_warning
        )

    def visible(self) -> dict[str, object]:
        """Return the names that are visible, with what stands for their values."""
        found: dict[str, object] = {}
        scope: Scope | None = self.scope
        while scope is not None:
            if scope is self.scope or scope.kind != "class":
                known = dict.fromkeys(scope.bound, UNKNOWN) | scope.seen | scope.names
                for name, value in known.items():
                    found.setdefault(name, shown(value))
            scope = scope.parent
        return found

    @contextmanager
    def inside(self, scope: Scope) -> Iterator[None]:
        """Read the code of another scope meanwhile."""
        before, is_dead, returned = self.scope, self.is_dead, self.returned
        self.scope, self.is_dead, self.returned = scope, False, []
        try:
            yield
        finally:
            self.scope, self.is_dead, self.returned = before, is_dead, returned

    def note_attribute(self, name: str, value: Value) -> None:
        """Note what is assigned to an attribute of some object."""
        self.assigned[name] = joined((self.assigned[name], value)) if name in self.assigned else value

    def name(self, node: ast.Name) -> Value:
        """Return the value of a name; report one that is not defined."""
        name = node.id
        scope = self.scope
        is_deferred = False
        first = True
        while scope.parent is not None:
            if name in scope.globals:
                return self._global(node, is_deferred=True)
            if name in scope.bound and (first or scope.kind != "class"):
                if first:
                    if name in scope.names:
                        return scope.names[name]
                    if scope.kind == "function":
                        self._report_unbound(node)
                        return UNKNOWN
                else:
                    return scope.from_inside(name)
            is_deferred |= scope.kind == "function"
            scope, first = scope.parent, False
        return self._global(node, is_deferred=is_deferred)

    def _global(self, node: ast.Name, *, is_deferred: bool) -> Value:
        name, module = node.id, self.scope.module
        if is_deferred:
            if name in module.seen:
                return module.from_inside(name)
            if name in module.bound:
                return UNKNOWN
        elif name in module.names:
            return module.names[name]
        if name in _BUILTINS:
            return exactly(_BUILTINS[name])
        is_set = any(name in scope.globals for scope in self._all_scopes())
        if self.is_wild or is_set or name in ("__file__", "__name__", "__doc__", "__path__", "__class__"):
            return UNKNOWN
        if name.startswith("__") and name.endswith("__"):
            return UNKNOWN
        self.error(NameError(f"name {name!r} is not defined", name=name), node)
        return UNKNOWN

    def _all_scopes(self) -> Iterator[Scope]:
        scope: Scope | None = self.scope
        while scope is not None:
            yield scope
            scope = scope.parent

    def _report_unbound(self, node: ast.Name) -> None:
        name = node.id
        text = f"cannot access local variable {name!r} where it is not associated with a value"
        self.error(UnboundLocalError(text, name=name), node)
