"""Replacements of calls and of their arguments."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType

import manim

from ..messages import Fix
from . import renamed, signatures
from .edits import after, before, fix, instead, parsed, with_self
from .phrases import OF_TEXT
from .place import Frame, Place, callee_of, keyword_of, span_of, value_of

_WITHOUT_SELF = re.compile(r"^(\w+)\.(\w+)\(\) takes 0 positional arguments but 1 was given")
_ONE_TOO_MANY = re.compile(r"^(\w+)\.(\w+)\(\) takes (\d+) positional arguments? but (\d+) were given")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def without_star(place: Place | None, code: str) -> Fix | None:
    """Return the argument of a call that takes one, without the star before it."""
    node, frame = (place.node, place.frame) if place else (None, None)
    called = callee_of(node, frame)
    if not isinstance(node, ast.Call) or len(node.args) != 1 or called is None:
        return None
    given = node.args[0]
    if not isinstance(given, ast.Starred) or len(signatures.names_of(called, 2)) != 1:
        return None
    return instead(given, ast.get_source_segment(code, given.value), code)


def called(place: Place | None, code: str) -> Fix | None:
    """Return the call of an operand that is a method without further arguments."""
    node, frame = (place.node, place.frame) if place else (None, None)
    for side in (node.left, node.right) if isinstance(node, ast.BinOp) else ():
        method = value_of(side, frame) if isinstance(side, ast.Attribute) else None
        if (
            isinstance(side, ast.Attribute)
            and isinstance(method, FunctionType | MethodType)
            and not _required(method)
        ):
            if side.attr == "center":  # which moves the mobject, and returns it
                return instead(side, f"{ast.get_source_segment(code, side.value)}.get_center()", code)
            return after(side, "()", code)
    return None


def _required(method: Callable[..., object]) -> list[str]:
    parameters = inspect.signature(method).parameters.values()
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return [one.name for one in needed if one.name != "self"]


def animated(message: str, place: Place | None, code: str) -> Fix | None:
    """Return what makes an animation of the argument of `play` that is none, where only one can be meant."""
    node, frame = (place.node, place.frame) if place else (None, None)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "play":
        return None
    return next(_animations(node, message, frame, code), None)


def _animations(node: ast.Call, message: str, frame: Frame | None, code: str) -> Iterator[Fix | None]:
    for index, argument in enumerate(node.args):
        value = value_of(argument, frame)
        is_list = isinstance(argument, ast.List | ast.Tuple) or isinstance(value, list | tuple)
        if is_list and not _are_mobjects(value):
            yield before(argument, "*", code)
        root, methods = _chain(argument)
        owner = value_of(root, frame)
        if not isinstance(owner, manim.Mobject) or not methods or methods[0].startswith(("get_", "animate")):
            continue
        if isinstance(argument, ast.Attribute) and len(methods) == 1:
            yield _of_method(node, index, frame, code)
        elif isinstance(argument, ast.Call) and re.search(rf"\b{type(owner).__name__}\b", message):
            yield after(root, ".animate", code)


def _are_mobjects(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, manim.Mobject) for one in value)


def _of_method(node: ast.Call, index: int, frame: Frame | None, code: str) -> Fix | None:
    """Return the animation of a method that is not called, but followed by its arguments."""
    method, given = node.args[index], node.args[index + 1 :]
    if not isinstance(method, ast.Attribute) or any(_may_be_animation(one, frame) for one in given):
        return None
    parts = [ast.get_source_segment(code, one) or "" for one in (method.value, *given)]
    text = f"{parts[0]}.animate.{method.attr}({', '.join(parts[1:])})"
    whole = ast.copy_location(ast.Name("", ast.Load()), method)
    last = node.args[-1]
    whole.end_lineno, whole.end_col_offset = last.end_lineno, last.end_col_offset
    return instead(whole, text, code)


def _may_be_animation(node: ast.expr, frame: Frame | None) -> bool:
    made = callee_of(node, frame)
    is_made = isinstance(made, type) and issubclass(made, manim.Animation)
    names = [part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    is_method = isinstance(node, ast.Attribute) and callable(value_of(node, frame))
    return is_made or is_method or "animate" in names or isinstance(node, ast.Starred)


def _chain(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return what the methods of an expression are called on, and their names."""
    methods: list[str] = []
    if isinstance(node, ast.Attribute):
        return node.value, [node.attr]
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        methods.insert(0, node.func.attr)
        node = node.func.value
    return node, methods


def without_quotes(message: str, place: Place | None, code: str) -> Fix | None:
    """Return the number that is written as text in a call, if one is."""
    if place is None or not isinstance(place.node, ast.Call) or not re.search(r"\bstr\b", message):
        return None
    found = [*_numbers(place.node)]
    return instead(found[0], str(found[0].value), code) if len(found) == 1 else None


def _numbers(node: ast.Call) -> Iterator[ast.Constant]:
    for call in (part for part in ast.walk(node) if isinstance(part, ast.Call)):
        if getattr(call.func, "id", None) in OF_TEXT:
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            text = given.value if isinstance(given, ast.Constant) else None
            if isinstance(given, ast.Constant) and isinstance(text, str) and _NUMBER.fullmatch(text):
                yield given


def getter_called(message: str, place: Place | None, code: str) -> Fix | None:
    """Return the call of an argument that is a method such as `get_center`, if one is."""
    if place is None or not isinstance(place.node, ast.Call) or "method" not in message:
        return None
    given = [*place.node.args, *(keyword.value for keyword in place.node.keywords)]
    methods = [one for one in given if isinstance(one, ast.Attribute) and one.attr.startswith("get_")]
    method = value_of(methods[0], place.frame) if len(methods) == 1 else None
    if isinstance(method, FunctionType | MethodType) and not _required(method):
        return after(methods[0], "()", code)
    return None


def method_with_self(message: str, code: str) -> Fix | None:
    """Return the first parameter of the method that a message says has none."""
    match, tree = _WITHOUT_SELF.search(message), parsed(code)
    if match is None or tree is None:
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == match[1]]
    methods = [part for one in classes for part in one.body if isinstance(part, ast.FunctionDef)]
    found = [one.lineno for one in methods if one.name == match[2] and not one.decorator_list]
    return with_self(found[0], code) if len(found) == 1 else None


def as_text(place: Place | None, code: str) -> Fix | None:
    """Return the text of what is added to a text on its left."""
    node = place.node if place else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    source = ast.get_source_segment(code, node.right)
    return instead(node.right, f"str({source})", code) if source else None


def with_first_parameter(message: str, code: str) -> Fix | None:
    """Return `self` before the other parameters of the method that a message says takes one too few."""
    match, tree = _ONE_TOO_MANY.search(message), parsed(code)
    if match is None or tree is None or int(match[4]) != int(match[3]) + 1:
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == match[1]]
    methods = [part for one in classes for part in one.body if isinstance(part, ast.FunctionDef)]
    found = [one for one in methods if one.name == match[2] and not one.decorator_list and one.args.args]
    if len(found) != 1 or found[0].args.args[0].arg in ("self", "cls"):
        return None
    first = found[0].args.args[0]
    span = span_of(ast.copy_location(ast.Name(first.arg, ast.Load()), first), code)
    return None if span.column is None else fix(span.line, span.column, span.column, "self, ")


def without_parameter(place: Place | None, code: str) -> Fix | None:
    """Return the lambda of `always_redraw` without a parameter that it does not use."""
    node, frame = (place.node, place.frame) if place else (None, None)
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if callee_of(node, frame) is not manim.always_redraw or not isinstance(given, ast.Lambda):
        return None
    names = [one.arg for one in given.args.args]
    used = {part.id for part in ast.walk(given.body) if isinstance(part, ast.Name)}
    start, end = span_of(given, code), span_of(given.body, code)
    line = code.split("\n")[given.lineno - 1]
    if len(names) != 1 or names[0] in used or start.line != end.line or start.column is None:
        return None
    colon = line.find(":", start.column)
    return fix(start.line, start.column, colon + 1, "lambda") if 0 <= colon < (end.column or 0) else None


def within(called: object, keyword: str, place: Place | None, code: str) -> Fix | None:
    """Return the dictionary that a keyword argument is a value of, if the call has none yet."""
    bases = [base.__name__ for base in called.__mro__] if isinstance(called, type) else []
    tables = (renamed.WITHIN.get(base, {}) for base in bases)
    found = next((table[keyword] for table in tables if keyword in table), None)
    node = place.node if place else None
    given = keyword_of(node, keyword)
    if found is None or given is None or keyword_of(node, found[0]) is not None:
        return None
    span, value = span_of(given, code), ast.get_source_segment(code, given.value)
    if span.column is None or span.end_column is None or span.end_line != span.line:
        return None
    return fix(span.line, span.column, span.end_column, f'{found[0]}={{"{found[1]}": {value}}}')


def shifted(name: str, place: Place | None, code: str) -> Fix | None:
    """Return the call of an animation of earlier versions as it is written now."""
    node = place.node if place else None
    new = renamed.SHIFTED.get(name)
    call = _call_of(node, code) if isinstance(node, ast.Name) else None
    if new is None or call is None or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    parts = [ast.get_source_segment(code, one) or "" for one in call.args]
    value = f"{new.sign}{parts[1]}" if len(parts) == 2 and new.has_argument else new.default
    is_simple = len(parts) < 2 or isinstance(call.args[1], ast.Name | ast.Constant)
    if not 1 <= len(parts) <= 1 + new.has_argument or value is None or not (is_simple or new.sign == ""):
        return None
    named = [ast.get_source_segment(code, one) or "" for one in call.keywords]
    return instead(call, f"{new.name}({', '.join([parts[0], f'{new.keyword}={value}', *named])})", code)


def _call_of(name: ast.Name, code: str) -> ast.Call | None:
    """Return the call of a name in the code."""
    tree = parsed(code)
    calls = (node for node in (ast.walk(tree) if tree else ()) if isinstance(node, ast.Call))
    place = (name.lineno, name.col_offset)
    return next((node for node in calls if (node.func.lineno, node.func.col_offset) == place), None)
