"""What the source files of Manim say of its classes and functions, beyond what can be looked up in them."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

# What `Sources` looks at.
_TELLING = frozenset({ast.Attribute, ast.Call, ast.Compare, ast.Name, ast.Subscript})
_IN_SCENES = re.compile(r"/manim/(?:animation|camera|mobject|scene)/")


@dataclass(frozen=True)
class Passing:
    """Where a function passes its ``**kwargs``: the expressions that it calls with them."""

    takes: frozenset[str] = frozenset()  # which it takes out by their names
    to: tuple[ast.Call, ...] = ()
    is_unknown: bool = False


@dataclass
class Sources:
    """What the source files of Manim say: functions by file and line, and attributes that are assigned."""

    passing: dict[tuple[str, int], Passing] = field(default_factory=dict)
    # By class: attributes of `self`, whatever the methods.
    assigned: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    # Of any object but `self`, in what makes and changes mobjects.
    foreign: set[str] = field(default_factory=set)
    # By function: how many arguments its parameters are called with.
    callbacks: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)

    def read(self, file: Path) -> None:
        """Read a source file."""
        try:
            tree = ast.parse(file.read_bytes())
        except (OSError, SyntaxError, ValueError):
            return
        self._visit(tree, str(file), "")

    def _visit(self, node: ast.AST, file: str, owner: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                name = f"{owner}.{child.name}" if owner else child.name
                self._visit(child, file, name)
            elif isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(part.lineno for part in child.decorator_list)])
                inner = _told_by(child)
                if child.args.kwarg is not None:
                    self.passing[file, first] = _passing(inner, child.args.kwarg.arg)
                if callbacks := _callbacks(child.args, inner):
                    self.callbacks[file, first] = callbacks
                self._note_attributes(child.args, inner, file, owner)
                self._visit(child, file, owner)
            elif not isinstance(child, ast.expr):
                self._visit(child, file, owner)

    def _note_attributes(self, taken: ast.arguments, inner: list[ast.AST], file: str, owner: str) -> None:
        arguments = [*taken.posonlyargs, *taken.args]
        own = arguments[0].arg if arguments and owner else None
        for node in inner:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if isinstance(node.value, ast.Name) and node.value.id == own:
                    self.assigned.setdefault((file, owner), set()).add(node.attr)
                elif _IN_SCENES.search(file):
                    self.foreign.add(node.attr)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
                match node.args:
                    case [_, ast.Constant(value=str(name)), _]:
                        self.foreign.add(name)


def _told_by(function: ast.FunctionDef) -> list[ast.AST]:
    """Return the nodes below a function that its uses of names and attributes are found in.

    Called for all of Manim's functions, so it is a faster ``ast.walk``.
    """
    nodes: list[ast.AST] = [function]
    for node in nodes:  # it grows
        for value in vars(node).values():
            if isinstance(value, list):
                nodes += [one for one in value if isinstance(one, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)
    return [node for node in nodes if type(node) in _TELLING]


def _callbacks(taken: ast.arguments, inner: list[ast.AST]) -> dict[str, int]:
    """Return how many arguments parameters are called with that are only called."""
    names = {argument.arg for argument in (*taken.args, *taken.kwonlyargs)}
    found: dict[str, set[int | None]] = {}
    for node in inner:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            is_plain = not node.keywords and not any(isinstance(one, ast.Starred) for one in node.args)
            found.setdefault(node.func.id, set()).add(len(node.args) if is_plain else None)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
            found.setdefault(node.id, set()).add(None)
    return {name: count for name, (count, *more) in found.items() if count is not None and not more}


def passing_of(function: ast.FunctionDef, name: str) -> Passing:
    """Return where a function passes its ``**kwargs``, which have a name."""
    return _passing(_told_by(function), name)


def _passing(inner: list[ast.AST], name: str) -> Passing:
    takes: set[str] = set()
    to: list[ast.Call] = []
    uses = known = 0
    for node in inner:
        match node:
            case ast.Name(id=used) if used == name:
                uses += 1
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=used), attr="pop" | "get" | "setdefault"),
                args=[ast.Constant(value=str(key)), *_],
            ) if used == name:
                takes.add(key)
                known += 1
            case ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="copy" | "update")) if (
                used == name
            ):
                known += 1
            case ast.Subscript(value=ast.Name(id=used), slice=ast.Constant(value=str(key))) if used == name:
                takes.add(key)
                known += 1
            case ast.Compare(
                left=ast.Constant(value=str(key)),
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.Name(id=used)],
            ) if used == name:
                takes.add(key)
                known += 1
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg is None and isinstance(keyword.value, ast.Name) and keyword.value.id == name:
                    to.append(node)
                    known += 1
    return Passing(frozenset(takes), tuple(to), uses != known or not to)
