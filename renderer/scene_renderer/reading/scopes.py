"""Which names the scopes of a source bind, and what is known of their values."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from .values import UNKNOWN, Value, joined

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Scope:
    """A module, class, function or comprehension."""

    kind: Literal["module", "class", "function"]
    parent: "Scope | None"
    # How often each name is bound.
    bound: Counter[str]
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    # The names that may have a value now, and all values that they had.
    names: dict[str, Value] = field(default_factory=dict)
    seen: dict[str, Value] = field(default_factory=dict)
    is_finished: bool = False
    # The class whose method it is.
    owner: type | None = None

    @property
    def module(self) -> "Scope":
        """The scope of the module."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value."""
        scope = self._owner_of(name)
        scope.names[name] = value
        scope.seen[name] = value if name not in scope.seen else joined((scope.seen[name], value))

    def _owner_of(self, name: str) -> "Scope":
        if name in self.globals:
            return self.module
        if name in self.nonlocals:
            scope = self.parent
            while scope is not None and (scope.kind != "function" or name not in scope.bound):
                scope = scope.parent
            return scope or self
        return self

    def from_inside(self, name: str) -> Value:
        """Return the value that a function that is defined in this scope finds for a name."""
        if name not in self.seen or (self.bound[name] > 1 and not self.is_finished):
            return UNKNOWN
        return self.seen[name]


class Inner(Scope):
    """The scope of a comprehension: it sees what the scope around it has bound so far."""

    def __init__(self, scope: Scope, around: Scope) -> None:
        bound = scope.bound.copy()
        if around.kind != "module":
            for name in around.names:
                bound.setdefault(name, 1)
            for name in around.bound:
                bound.setdefault(name, 1)
        super().__init__("function", around, bound, around.globals, around.nonlocals)
        if around.kind != "module":
            self.names = dict(around.names)
            self.bound.update(around.names.keys())
        if around.kind == "class":
            self.names = {}
            self.bound = scope.bound.copy()


class _Names(ast.NodeVisitor):
    """Collects what the statements of one scope bind."""

    def __init__(self) -> None:
        self.bound: Counter[str] = Counter()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound[node.id] += 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._define(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._define(node)

    def _define(self, node: Definition) -> None:
        self.bound[node.name] += 1
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound[node.name] += 1
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                self.visit(part)

    def _visit_comprehension(self, node: Comprehension) -> None:
        # Its targets are its own; what `:=` binds is not.
        self.visit(node.generators[0].iter)
        for inner in ast.walk(node):
            if isinstance(inner, ast.NamedExpr):
                self.visit(inner.target)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.bound[alias.asname or alias.name.partition(".")[0]] += 1

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.bound[alias.asname or alias.name] += 1

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound[node.name] += 2
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.bound[node.name] += 1
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.bound[node.name] += 1

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.bound[node.rest] += 1
        self.generic_visit(node)


# By the statements, which are kept as long: a body is read several times.
_known: dict[int, tuple[list[ast.stmt], _Names]] = {}


def forget() -> None:
    """Forget the sources that were read before."""
    _known.clear()


def _names_in(body: list[ast.stmt]) -> _Names:
    if id(body) not in _known:
        names = _Names()
        for statement in body:
            names.visit(statement)
        _known[id(body)] = body, names
    known = _known[id(body)][1]
    found = _Names()
    found.bound, found.globals, found.nonlocals = known.bound.copy(), {*known.globals}, {*known.nonlocals}
    return found


def scope_of(
    kind: Literal["module", "class", "function"],
    parent: Scope | None,
    body: list[ast.stmt],
    arguments: ast.arguments | None = None,
) -> Scope:
    """Return the scope of statements."""
    found = _names_in(body)
    for argument in arguments_of(arguments) if arguments else ():
        found.bound[argument.arg] += 1
    for name in (*found.globals, *found.nonlocals):
        del found.bound[name]
    return Scope(kind, parent, found.bound, found.globals, found.nonlocals)


def arguments_of(arguments: ast.arguments) -> Iterator[ast.arg]:
    """Yield all parameters of a function."""
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (other for other in (arguments.vararg, arguments.kwarg) if other is not None)


def bound_in(statements: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind."""
    return {*scope_of("function", None, statements).bound}
