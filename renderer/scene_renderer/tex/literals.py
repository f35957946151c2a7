"""Finds in the source of a scene the TeX documents that it will probably ask for.

The source is only parsed. Arguments of Manim's classes for TeX are found if they are literals, or names and
loops whose values are. What is found may be wrong, or not all: then it has been compiled for nothing, or is
compiled when the scene asks for it.
"""

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, NoReturn

from manim import WHITE, BulletedList, MathTex, SingleStringMathTex, Tex, TexTemplate, Title

_SOURCE_LENGTH_MAX = 100_000
_DOCUMENTS_MAX = 100
_VALUES_MAX = 50
_DEPTH_MAX = 8
_STEPS_MAX = 2_000
_IS_ABOUT_TEX = re.compile(
    r"\b(?:MathTex|Tex|Title|BulletedList|SingleStringMathTex|MathTable|Matrix|get_tex)\b"
)
# The template of all expressions isn't Manim's.
_OWN_TEMPLATE = re.compile(r"config(?:\.tex_template|\[.tex_template.\])\s*=|\.set_default\(")
_CLASSES: dict[str, Callable[..., Any]] = {
    kind.__name__: kind for kind in (BulletedList, MathTex, SingleStringMathTex, Tex, Title)
}
# Functions and methods by the position of the argument that becomes an expression, and the class of that.
_WITH_EXPRESSION: dict[str, tuple[int, Callable[..., Any]]] = {
    "get_tex": (0, MathTex),
    "get_text": (0, Tex),
    "get_graph_label": (1, MathTex),
    "get_x_axis_label": (0, MathTex),
    "get_y_axis_label": (0, MathTex),
    "BraceLabel": (1, MathTex),
}
_WITH_ENTRIES = frozenset({"Matrix", "MathTable"})
_SETTINGS = frozenset({"tex_environment", "arg_separator", "substrings_to_isolate"})


@dataclass
class Literals:
    """The documents that were found, and whether there are probably others."""

    documents: list[str]
    are_all: bool


def literals_of(code: str, class_name: str, template: TexTemplate) -> Literals:
    """Return the documents that the source of a scene contains, as far as they are found."""
    found = Literals([], are_all=True)
    if len(code) > _SOURCE_LENGTH_MAX or not _IS_ABOUT_TEX.search(code) or _OWN_TEMPLATE.search(code):
        return found
    with suppress(Exception):  # whatever is wrong with the source is reported when it is imported
        source = _Source(code, class_name)
        for make, arguments, settings in source.expressions():
            document = _document_of(make, arguments, settings, template)
            if document is not None:
                found.documents.append(document)
            if len(found.documents) == _DOCUMENTS_MAX:
                break
        found.are_all = not source.has_others
    return found


class _Asked(BaseException):
    """Manim has asked for this document."""

    def __init__(self, document: str) -> None:
        self.document = document


class _Template(TexTemplate):
    """Ends the making of a mobject as soon as it asks for a document."""

    def __init__(self, template: TexTemplate) -> None:
        self._own = template

    def get_texcode_for_expression(self, expression: str) -> NoReturn:
        raise _Asked(self._own.get_texcode_for_expression(expression))

    def get_texcode_for_expression_in_env(self, expression: str, environment: str) -> NoReturn:
        raise _Asked(self._own.get_texcode_for_expression_in_env(expression, environment))


def _document_of(
    make: Callable[..., Any], arguments: tuple[Any, ...], settings: dict[str, Any], template: TexTemplate
) -> str | None:
    try:
        make(*arguments, **settings, tex_template=_Template(template))
    except _Asked as asked:
        return asked.document
    except Exception:
        return None
    return None


class _TooMuchError(Exception):
    """The source takes too long to analyse."""


class _Source:
    """The part of a source that a class needs, and what its names may stand for."""

    def __init__(self, code: str, class_name: str) -> None:
        self.has_others = False
        """Whether there are expressions that aren't found."""
        self._steps = 0
        self._values: dict[str, list[ast.expr]] = {}
        """Expressions whose values a name may have, ..."""
        self._items: dict[str, list[tuple[ast.expr, tuple[int, ...]]]] = {}
        """... and those whose items, or parts of items, it may have."""
        self._nodes = [node for part in _reachable(ast.parse(code), class_name) for node in ast.walk(part)]
        functions = {node.name: node for node in self._nodes if isinstance(node, ast.FunctionDef)}
        for node in self._nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._bind(node.target, node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                self._bind_items(node.target, node.iter)
            elif isinstance(node, ast.Call) and (function := functions.get(_name_of(node) or "")):
                self._bind_parameters(function, node)

    def expressions(self) -> Iterator[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]]:
        """Yield classes of expressions, and the arguments to make them with."""
        for node in self._nodes:
            name = _name_of(node) if isinstance(node, ast.Call) else None
            if name is None or not isinstance(node, ast.Call):
                continue
            if name in _CLASSES:
                settings = self._settings(node)
                if settings is None:
                    continue
                found = list(self._arguments(node))
                self.has_others |= not found
                for arguments in found:
                    yield _CLASSES[name], arguments, settings
            elif name in _WITH_EXPRESSION:
                place, kind = _WITH_EXPRESSION[name]
                for given in [
                    *node.args[place : place + 1],
                    *(k.value for k in node.keywords if k.arg == "label"),
                ]:
                    for value in self._evaluate(given):
                        yield kind, (value,), {}
            elif name in _WITH_ENTRIES and node.args and not node.keywords:
                for row in self._items_of(node.args[0]):
                    for entry in self._items_of(row):
                        for value in self._evaluate(entry):
                            yield MathTex, (value,), {}

    def _settings(self, call: ast.Call) -> dict[str, Any] | None:
        """Return the named arguments that the document depends on; None if one isn't known."""
        settings: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg in _SETTINGS:
                try:
                    settings[keyword.arg] = ast.literal_eval(keyword.value)
                except ValueError:
                    return None
            elif keyword.arg == "tex_to_color_map":
                if not isinstance(keyword.value, ast.Dict):
                    return None
                keys = [key.value for key in keyword.value.keys if isinstance(key, ast.Constant)]
                settings[keyword.arg] = dict.fromkeys(keys, WHITE)
            elif keyword.arg in ("tex_template", None):
                return None
        return settings

    def _arguments(self, call: ast.Call) -> Iterator[tuple[Any, ...]]:
        """Yield the positional arguments that a call may have."""
        match call.args:
            case [ast.Starred(value=value)]:
                alternatives = self._lists_of(value)
            case given:
                alternatives = [given]
        for items in alternatives:
            values = [self._evaluate(item) for item in items]
            lengths = {len(each) for each in values} - {1}
            if not values or len(lengths) > 1:
                continue
            for number in range(max(map(len, values))):  # several values belong to the same round of a loop
                yield tuple(each[number if len(each) > 1 else 0] for each in values)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple | ast.List):
            for part, of_it in zip(target.elts, value.elts, strict=False):
                self._bind(part, of_it)

    def _bind_items(self, target: ast.expr, value: ast.expr, path: tuple[int, ...] = ()) -> None:
        if isinstance(target, ast.Name):
            self._items.setdefault(target.id, []).append((value, path))
        elif isinstance(target, ast.Tuple):
            for number, part in enumerate(target.elts):
                self._bind_items(part, value, (*path, number))

    def _bind_parameters(self, function: ast.FunctionDef, call: ast.Call) -> None:
        names = [argument.arg for argument in function.args.args]
        if isinstance(call.func, ast.Attribute) and names[:1] == ["self"]:
            names = names[1:]
        for name, value in zip(names, call.args, strict=False):
            self._values.setdefault(name, []).append(value)
        for keyword in call.keywords:
            if keyword.arg in names:
                self._values.setdefault(keyword.arg, []).append(keyword.value)

    def _expressions_of(self, name: str, depth: int) -> Iterator[ast.expr]:
        """Yield expressions whose values a name may have."""
        yield from self._values.get(name, [])
        for value, path in self._items.get(name, []):
            for item in self._items_of(value, depth + 1):
                part = item
                for number in path:
                    parts = self._items_of(part, depth + 1)
                    if number >= len(parts):
                        break
                    part = parts[number]
                else:
                    yield part

    def _lists_of(self, node: ast.expr, depth: int = 0) -> list[list[ast.expr]]:
        """Return the items of each list that an expression may stand for."""
        if isinstance(node, ast.Name) and self._goes_on(depth):
            expressions = islice(self._expressions_of(node.id, depth), _VALUES_MAX)
            return [items for each in expressions for items in self._lists_of(each, depth + 1)]
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return [
                items for each in self._items_at(node, depth) for items in self._lists_of(each, depth + 1)
            ]
        return [self._items_of(node, depth)]

    def _items_at(self, node: ast.Subscript, depth: int) -> list[ast.expr]:
        """Return the item or the part of a list, or all of them if the place isn't known."""
        if isinstance(node.value, ast.Dict):
            return node.value.values[:_VALUES_MAX]
        items = self._items_of(node.value, depth + 1)
        try:
            if isinstance(node.slice, ast.Slice):
                given = (node.slice.lower, node.slice.upper, node.slice.step)
                ends: list[Any] = [each and ast.literal_eval(each) for each in given]
                return items[slice(*ends)]
            return [items[ast.literal_eval(node.slice)]]
        except (ValueError, TypeError, IndexError):
            return items

    def _items_of(self, node: ast.expr, depth: int = 0) -> list[ast.expr]:
        """Return the items of what is iterable, as expressions."""
        if not self._goes_on(depth):
            return []
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                return node.elts[:_VALUES_MAX]
            case ast.Dict():
                return [key for key in node.keys if key is not None][:_VALUES_MAX]
            case ast.Name():
                expressions = islice(self._expressions_of(node.id, depth), _VALUES_MAX)
                return [item for each in expressions for item in self._items_of(each, depth + 1)]
            case ast.Subscript(slice=ast.Slice()):
                return self._items_at(node, depth)
            case ast.Call(func=ast.Name(id="range")):
                numbers = [ast.literal_eval(argument) for argument in node.args]
                return [ast.Constant(number) for number in range(*numbers)[:_VALUES_MAX]]
            case ast.Call(func=ast.Name(id="enumerate"), args=[value, *_]):
                items = self._items_of(value, depth + 1)
                return [
                    ast.Tuple([ast.Constant(number), item], ast.Load()) for number, item in enumerate(items)
                ]
            case ast.Call(func=ast.Name(id="zip")):
                rows = zip(*(self._items_of(value, depth + 1) for value in node.args), strict=False)
                return [ast.Tuple(list(row), ast.Load()) for row in rows]
            case ast.Call(func=ast.Attribute(value=ast.Dict() as pairs, attr="items")):
                return [
                    ast.Tuple([key, value], ast.Load())
                    for key, value in zip(pairs.keys, pairs.values, strict=True)
                    if key is not None
                ]
        return []

    def _evaluate(self, node: ast.expr, depth: int = 0) -> list[Any]:
        """Return the values that an expression may have, as far as they are found."""
        if not self._goes_on(depth):
            return []
        match node:
            case ast.Constant(value=str() | int() | float()):
                return [node.value]
            case ast.Name():
                expressions = islice(self._expressions_of(node.id, depth), _VALUES_MAX)
                return [value for each in expressions for value in self._evaluate(each, depth + 1)]
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                items = self._items_at(node, depth)
                return [value for item in items for value in self._evaluate(item, depth + 1)]
            case ast.IfExp():
                return [
                    value for each in (node.body, node.orelse) for value in self._evaluate(each, depth + 1)
                ]
            case ast.JoinedStr():
                return self._joined([self._evaluate(part, depth + 1) for part in node.values])
            case ast.FormattedValue(conversion=-1, format_spec=None):
                return [format(value) for value in self._evaluate(node.value, depth + 1)]
            case ast.BinOp(op=ast.Add()):
                return self._joined([self._evaluate(part, depth + 1) for part in (node.left, node.right)])
            case ast.Call(func=ast.Name(id="str"), args=[value]):
                return [str(each) for each in self._evaluate(value, depth + 1)]
        return []

    @staticmethod
    def _joined(parts: list[list[Any]]) -> list[Any]:
        rows = islice(product(*parts), _VALUES_MAX)
        return ["".join(row) for row in rows if all(isinstance(part, str) for part in row)]

    def _goes_on(self, depth: int) -> bool:
        """Whether to continue: not if names stand for one another. Raises _TooMuchError."""
        self._steps += 1
        if self._steps > _STEPS_MAX:
            raise _TooMuchError
        return depth <= _DEPTH_MAX


def _name_of(call: ast.Call) -> str | None:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return None


def _reachable(module: ast.Module, class_name: str) -> list[ast.stmt]:
    """Return the statements of a module that a class may use: itself, and what they name."""
    named: dict[str, list[ast.stmt]] = {}
    for statement in module.body:
        for name in _defined_by(statement):
            named.setdefault(name, []).append(statement)
    found: dict[ast.stmt, None] = {}
    waiting = [class_name]
    while waiting:
        for statement in named.pop(waiting.pop(), []):
            if statement not in found:
                found[statement] = None
                waiting += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return list(found)


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
