"""Finds what a render of a source would fail on."""

import ast
import re
import unicodedata
import warnings

from manim import Scene

from ..advice.fixes import fix_of
from ..advice.place import Span, locate, place_of
from ..advice.syntax import of_syntax
from ..messages import Finding
from ..scene_error import finding
from . import classes, flow, scopes
from .reading import Reading, TooLongError
from .report import Report
from .scopes import Definition, scope_of

_CHARACTERS_MAX = 400_000
_NODES_MAX = 60_000
_DEPTH_MAX = 150
_TRICKS = re.compile(r"\b(?:exec|eval|globals|locals|vars|__builtins__|__import__|importlib|builtins)\b")
_ASKS = ("hasattr", "getattr", "setattr", "delattr")


def find(code: str, class_name: str | None = None, *, is_local: bool = False) -> list[Finding]:
    """Return what is certainly wrong in a source, in the order of its lines; at most 20.

    `class_name`: what is only wrong in other scenes is left out; `is_local`: modules may be beside the file.
    """
    if "\0" in code:
        return [_of_nul(code)]
    if len(code) > _CHARACTERS_MAX:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
            compile(tree, "scene.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return [_of_syntax(error, code)]
    except (ValueError, RecursionError, MemoryError, OverflowError):
        return []
    try:
        return _find(code, tree, class_name, is_local=is_local)
    except (RecursionError, MemoryError):
        return []


def _of_nul(code: str) -> Finding:
    before, _, _ = code.partition("\0")
    line = before.count("\n") + 1
    found = finding("scene:syntax", f"line {line}: the code contains a NUL character.")
    column = len(before.rpartition("\n")[2]) + 1
    # JSON can have a NUL, but databases can't.
    locate(found, Span(line, column, line, column + 1), code.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    return found


def _of_syntax(error: SyntaxError, code: str) -> Finding:
    error.filename = "scene.py"
    advice = of_syntax(error, code)
    found = finding(advice.kind, f"{type(error).__name__}: {error.msg}", advice.hint, advice.candidates)
    place = place_of(error, "scene.py", code)
    if place is not None:
        locate(found, place.span, code)
        found["fix"] = fix_of(advice, place.span, code)
    return found


def _find(code: str, tree: ast.Module, class_name: str | None, *, is_local: bool) -> list[Finding]:
    scopes.forget()
    lines = [line.encode("utf-8", "surrogatepass") for line in code.split("\n")]
    report = Report(code, lines, is_local=is_local)
    nodes = list(ast.walk(tree))
    if len(nodes) > _NODES_MAX:
        return []
    free, is_wild = _free(nodes)
    scope = scope_of("module", None, tree.body)
    reading = Reading(tree, report, scope, free, read=flow.read, result_of=flow.result_of)
    reading.is_attributes_wild = is_wild
    reading.is_wild = _TRICKS.search(code) is not None
    try:
        flow.read(reading, tree.body)
        scope.is_finished = True
        reading.is_dead = False
        _read_functions(reading, nodes, class_name)
        classes.check(reading, class_name)
    except TooLongError:
        pass
    return report.sorted()


def _free(nodes: list[ast.AST]) -> tuple[set[str], bool]:
    """Return the attributes that are assigned or asked for by name; and whether any may be."""
    free: set[str] = set()
    is_wild = False
    for node in nodes:
        match node:
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                free.add(name)
            case ast.Call(func=ast.Name(id=name), args=[_, ast.Constant(value=str(attribute)), *_]) if (
                name in _ASKS
            ):
                free.add(attribute)
            case ast.Call(func=ast.Name(id="setattr")) | ast.Attribute(attr="__dict__" | "__getattr__"):
                is_wild = True
            case ast.FunctionDef(name="__getattr__" | "__getattribute__"):
                is_wild = True
            # mobject.set(name=value)
            case ast.Call(func=ast.Attribute(attr="set"), keywords=keywords):
                free.update(keyword.arg for keyword in keywords if keyword.arg)
                is_wild |= any(keyword.arg is None for keyword in keywords)
            case ast.Call(func=ast.Attribute(attr=name)) if name.startswith("set_"):
                free.add(name[4:])
    return free, is_wild


def _read_functions(reading: Reading, nodes: list[ast.AST], class_name: str | None) -> None:
    """Read the functions of the module and the methods of its classes, first for what they assign."""
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    tried = _tried(nodes)
    bodies, reading.later = reading.later, []
    with reading.report.silenced():
        for one in bodies:
            flow.body(reading, one)
    reading.has_read_all = True
    reading.results.clear()
    for one in bodies:
        name = getattr(one.node, "name", None)
        is_called = name is None or name in used or name.startswith("__")
        if one.owner is not None and name is not None:
            is_called |= any(name in vars(base) for base in one.owner.__mro__[1:])
            is_called |= one.owner.__module__ != "scene"
            if not _concerns(reading, one.owner, class_name):
                continue
        if not is_called:
            continue
        if name in tried:
            one.caught = [None]
        flow.body(reading, one)


def _concerns(reading: Reading, owner: type, class_name: str | None) -> bool:
    """Whether a class is that of the scene, or not a scene, or one of its bases."""
    if class_name is None or not issubclass(owner, Scene):
        return True
    name = unicodedata.normalize("NFKC", class_name)
    wanted = [kind for kind in reading.classes if kind.__name__ == name]
    return not wanted or any(issubclass(kind, owner) for kind in wanted)


def _tried(nodes: list[ast.AST]) -> set[str]:
    """Return the names of the functions that are called where errors are caught, or by such a function."""
    tried: set[str] = set()
    for node in nodes:
        if (isinstance(node, ast.Try) and node.handlers) or (
            isinstance(node, ast.With)
            and not all(_is_plain_context(item.context_expr) for item in node.items)
        ):
            for statement in node.body:
                tried |= _mentioned(statement)
    if not tried:
        return tried
    functions: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, Definition):
            functions.setdefault(node.name, set()).update(_mentioned(node))
    while True:
        more = {name for one in tried & functions.keys() for name in functions[one]} - tried
        if not more:
            return tried & functions.keys()
        tried |= more


def _is_plain_context(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id in ("open", "register_font", "tempconfig")


def _mentioned(node: ast.AST) -> set[str]:
    names = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            names.add(inner.id)
        elif isinstance(inner, ast.Attribute):
            names.add(inner.attr)
    return names
