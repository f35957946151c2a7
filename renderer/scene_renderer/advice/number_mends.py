"""Replacements where numbers, vectors and loops are calculated with in another way."""

import ast
import re

import manim
import numpy as np

from .calls import written
from .edits import after, instead, parsed
from .mend import Mend, Rule
from .place import Place, value_of

_FLOAT = re.compile(
    r"'float' object cannot be interpreted as an integer|indices must be integers .*not float"
)
_OPERANDS = re.compile(r"unsupported operand type\(s\) for (.+?): '([^']+)' and '([^']+)'")
_COUNTERS = ("i", "j", "k", "n", "idx", "index")
_POINT_METHODS = ("move_to", "shift", "Dot")


def _of_loop(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the range of a number that a loop counts to."""
    loop = _loop_of(place, code)
    if loop is None or "'int' object is not iterable" not in str(error):
        return None
    text = f"range({written(loop.iter, code)})"
    return Mend(instead(loop.iter, text, code), f"To count in a loop use `{text}`.")


def _loop_of(place: Place, code: str) -> ast.For | None:
    """Return the loop that goes through what fails, or in whose line it fails."""
    tree = parsed(code)
    loops = [one for one in (ast.walk(tree) if tree else ()) if isinstance(one, ast.For)]
    found = [one for one in loops if one.lineno == place.span.line]
    return found[0] if len(found) == 1 else None


def _of_pairs(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the items of a dictionary, or the numbers of a list, where a loop takes pairs."""
    loop = _loop_of(place, code)
    if loop is None or not re.search(r"to unpack|cannot unpack non-iterable", str(error)):
        return None
    pairs = [(loop.target, loop.iter)]
    if isinstance(loop.iter, ast.Call) and isinstance(loop.target, ast.Tuple):
        name = getattr(loop.iter.func, "id", "")
        given = loop.iter.args
        pairs = [*zip(loop.target.elts, given, strict=False)] if name == "zip" else []
        pairs = [(loop.target.elts[-1], given[0])] if name == "enumerate" and given else pairs
    for target, one in pairs:
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            continue
        value = value_of(one, place.frame)
        if isinstance(one, ast.Dict) or isinstance(value, dict):
            text = f"{written(one, code)}.items()"
            return Mend(instead(one, text, code), f"A dictionary gives its keys: for pairs write `{text}`.")
        is_list = isinstance(one, ast.List | ast.Tuple) or isinstance(value, list | tuple | manim.Mobject)
        if is_list and isinstance(target.elts[0], ast.Name) and target.elts[0].id in _COUNTERS:
            text = f"enumerate({written(one, code)})"
            return Mend(instead(one, text, code), f"To count what a loop goes through write `{text}`.")
    return None


def _of_division(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the division of whole numbers where one is needed, and ranges of other steps with NumPy."""
    node = place.node
    if not _FLOAT.search(str(error)) or not isinstance(node, ast.Call | ast.Subscript):
        return None
    parts = [node.slice] if isinstance(node, ast.Subscript) else node.args
    is_range = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    if isinstance(node, ast.Call) and not is_range:
        return None
    if isinstance(node, ast.Call) and len(parts) == 3:
        return Mend(
            instead(node.func, "np.arange", code), "For steps that are no whole numbers use `np.arange`."
        )
    for part in parts:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Div):
            text = f"{written(part.left, code)} // {written(part.right, code)}"
            return Mend(instead(part, text, code), f"For a whole number write `{text}`.")
        if isinstance(part, ast.Constant) and isinstance(part.value, float) and part.value.is_integer():
            return Mend(instead(part, str(int(part.value)), code), "Give a whole number.")
    return None


def _of_power(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write a power with `**`."""
    if not re.search(r"bitwise_xor|unsupported operand type\(s\) for \^", str(error)) or place.node is None:
        return None
    found = [
        one for one in ast.walk(place.node) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.BitXor)
    ]
    if not found:
        return None
    text = written(found[0], code).replace("^", "**")
    return Mend(instead(found[0], text, code), "A power is written with `**`.")


def _of_operands(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the number of a tracker, the place of a mobject, the array of a list, to calculate with."""
    node = place.node
    match = _OPERANDS.search(str(error))
    is_sum = isinstance(error, NotImplementedError) or "multiply sequence by non-int" in str(error)
    is_tracked = "setting an array element with a sequence" in str(error) or "must be real number" in str(
        error
    )
    if node is None or not (match or is_sum or is_tracked):
        return None
    for part in ast.walk(node):
        sides = [part.left, part.right] if isinstance(part, ast.BinOp) else []
        if isinstance(part, ast.Call) and ast.unparse(part.func).startswith(("np.", "math.")):
            sides = part.args
        for side in sides:
            if isinstance(value_of(side, place.frame), manim.ValueTracker) and isinstance(
                side, ast.Name | ast.Attribute
            ):
                return Mend(after(side, ".get_value()", code), "Use its number: `.get_value()`.")
    if not isinstance(node, ast.BinOp):
        return None
    sides = [node.left, node.right]
    values = [value_of(side, place.frame) for side in sides]
    if isinstance(error, NotImplementedError) and isinstance(node.op, ast.Add | ast.Sub):
        return _of_places(node, values, code)
    for side, value in zip(sides, values, strict=True):
        is_list = isinstance(side, ast.List | ast.Tuple) or isinstance(value, list | tuple)
        if is_list and isinstance(side, ast.List | ast.Tuple | ast.Name):
            text = f"np.array({written(side, code)})"
            return Mend(instead(side, text, code), f"For points and vectors use `{text}`.")
    return None


def _of_places(node: ast.BinOp, values: list[object], code: str) -> Mend | None:
    mobjects = [isinstance(value, manim.Mobject) for value in values]
    others = [isinstance(value, np.ndarray) for value in values]
    if not any(mobjects) or not ((all(mobjects) and isinstance(node.op, ast.Sub)) or any(others)):
        return None
    parts = [
        f"{written(side, code)}.get_center()" if is_mobject else written(side, code)
        for side, is_mobject in zip((node.left, node.right), mobjects, strict=True)
    ]
    operator = "+" if isinstance(node.op, ast.Add) else "-"
    hint = "To calculate with positions use `.get_center()`."
    return Mend(instead(node, f"{parts[0]} {operator} {parts[1]}", code), hint)


def _uncalled(error: BaseException, place: Place, code: str) -> Mend | None:
    """Leave out the parentheses behind a number, and behind a function that is given as an argument."""
    node, message = place.node, str(error)
    if (
        isinstance(node, ast.Call)
        and not node.args
        and not node.keywords
        and isinstance(node.func, ast.Attribute)
    ):
        owner = value_of(node.func.value, place.frame)
        is_number = re.search(r"'(?:numpy\.)?(?:float|int)\w*' object is not callable", message)
        if is_number and isinstance(owner, manim.Mobject):
            text = written(node.func, code)
            return Mend(instead(node, text, code), f"It is a number: write `{text}`.")
    match = re.search(r"^(\w+)\(\) missing 1 required positional argument: 't'", message)
    if match and isinstance(node, ast.Call) and not node.args and not node.keywords:
        text = written(node.func, code)
        return Mend(instead(node, text, code), f"Give the function itself: `{text}`.")
    return None


RULES: tuple[Rule, ...] = (
    _of_loop,
    _of_pairs,
    _of_division,
    _of_power,
    _of_operands,
    _uncalled,
)
