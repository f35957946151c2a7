"""Replacements of values: points, directions, colours, indexes and texts."""

import ast
import re
from collections.abc import Iterator

import manim
import numpy as np

from ..messages import Fix
from .calls import around, between, called_with, method_of, written
from .edits import after, instead, parsed
from .mend import Mend, Rule
from .names import namespaced
from .place import Place, callee_of, keyword_of, span_of, value_of, whole_line

_TWO = re.compile(r"[(,] ?2[,)]|\(2,\)")
_COLOR = re.compile(r"Color '?(#?[\w ]+?)'? not found")
_HEX = re.compile(r"[0-9a-fA-F]{6}")


_POINT_METHODS = ("move_to", "shift", "Dot")


def _of_points(error: BaseException, place: Place, code: str) -> Mend | None:
    """Give points of two coordinates a third one."""
    node = place.node
    if not isinstance(error, ValueError) or not isinstance(node, ast.Call | ast.BinOp):
        return None
    if not _TWO.search(str(error)) or not re.search(r"broadcast|inhomogeneous|shape", str(error)):
        return None
    hint = "Points have three coordinates: `[x, y, 0]`."
    found = [one for one in _given(node) if isinstance(one, ast.List | ast.Tuple) and _is_flat(one)]
    if len(found) == 1:
        return Mend(after(found[0].elts[1], ", 0", code), hint)
    if found and found[0].lineno == found[-1].end_lineno:
        line = whole_line(code, found[0].lineno) or ""
        spans = [span_of(one, code) for one in found]
        start, end = (spans[0].column or 1) - 1, (spans[-1].end_column or 1) - 1
        text = line[start:end]
        for span in reversed(spans):
            at = (span.end_column or 1) - 2 - start
            text = f"{text[:at]}, 0{text[at:]}"
        return Mend(between(found[0], found[-1], text, code), hint)
    for one in _given(node):
        value = value_of(one, place.frame) if isinstance(one, ast.Name) else None
        if isinstance(one, ast.Name) and np.shape(
            value if isinstance(value, np.ndarray | list | tuple) else 0
        ) == (2,):
            return Mend(_at_assignment(one, code), hint)
    return None


def _given(node: ast.Call | ast.BinOp) -> Iterator[ast.expr]:
    """Go through the points in a call or a sum."""
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    else:
        parts = [
            *node.args,
            *(one.value for one in node.keywords if one.arg and not one.arg.endswith(("range", "size"))),
        ]
    for given in parts:
        part = given.body if isinstance(given, ast.Lambda) else given
        is_array = isinstance(part, ast.Call) and ast.unparse(part.func) in ("np.array", "numpy.array")
        if isinstance(part, ast.Call) and is_array and part.args:
            yield part.args[0]
        elif isinstance(part, ast.BinOp):
            yield from _given(part)
        else:
            yield part


def _is_flat(node: ast.List | ast.Tuple) -> bool:
    texts = [one.value for one in node.elts if isinstance(one, ast.Constant)]
    is_simple = not any(isinstance(one, ast.List | ast.Tuple | ast.Starred) for one in node.elts)
    return len(node.elts) == 2 and is_simple and not any(isinstance(one, str) for one in texts)


def _at_assignment(name: ast.Name, code: str) -> Fix | None:
    """Return the third coordinate of a point that is written once in the functions around."""
    functions = [one for one in around(name, code) if isinstance(one, ast.FunctionDef)]
    values = [
        part.value
        for part in (ast.walk(functions[-1]) if functions else ())
        if isinstance(part, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == name.id for to in part.targets)
    ]
    points = [one for value in values if (one := _point_in(value)) is not None]
    return after(points[0].elts[1], ", 0", code) if len(points) == 1 else None


def _point_in(value: ast.expr) -> ast.List | ast.Tuple | None:
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("np.array", "numpy.array") and value.args:
        value = value.args[0]
    return value if isinstance(value, ast.List | ast.Tuple) and _is_flat(value) else None


def _of_coordinates(error: BaseException, place: Place, code: str) -> Mend | None:
    """Put coordinates that are given one by one into a point."""
    node = place.node
    if not isinstance(node, ast.Call) or not isinstance(error, TypeError | ValueError | AttributeError):
        return None
    name = method_of(node) or getattr(node.func, "id", None)
    if name not in _POINT_METHODS or node.keywords or len(node.args) not in (2, 3):
        return None
    if not all(_is_number(one) for one in node.args):
        return None
    parts = [*(written(one, code) for one in node.args), "0"][:3]
    text = f"[{', '.join(parts)}]"
    return Mend(called_with(node, code, [text]), f"A point is one argument: `{text}`.")


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _of_color(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the constant of a colour whose name Manim has elsewhere."""
    match = _COLOR.search(str(error))
    if match is None or place.node is None:
        return None
    found = [
        one
        for one in ast.walk(place.node)
        if isinstance(one, ast.Constant) and str(one.value).casefold() == match[1].casefold()
    ]
    if len(found) != 1:
        return None
    name = match[1]
    text = f'"#{name}"' if _HEX.fullmatch(name) else _color_named(name.upper()) or ""
    return Mend(instead(found[0], text, code), f"Use `{text}`.")


def _color_named(name: str) -> str | None:
    spelled = name.replace(" ", "_").replace("-", "_")
    for one in vars(manim):
        is_color = isinstance(vars(manim)[one], manim.ManimColor)
        if is_color and one.replace("_", "") in (spelled.replace("_", ""), f"PURE{spelled}"):
            return one
    return namespaced(spelled)


def _of_index(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write an index that is there, where it can be told which one is meant."""
    node = place.node
    if not isinstance(error, IndexError) or not isinstance(node, ast.Subscript):
        return None
    container, index = value_of(node.value, place.frame), node.slice
    if not isinstance(container, list | tuple | manim.Mobject) or isinstance(index, ast.Slice):
        return None
    size = len(container)
    number = index.value if isinstance(index, ast.Constant) else None
    if isinstance(container, manim.MathTex) and size == 1 and isinstance(number, int):
        if number < len(container.submobjects[0].submobjects):
            hint = f"This {type(container).__name__} has 1 part: its glyphs are `[0][n]`."
            return Mend(after(node.value, "[0]", code), hint)
        return None
    if isinstance(number, int) and size > 0 and number == size:
        return Mend(instead(index, str(size - 1), code))
    is_of_colors = isinstance(container, list | tuple) and all(
        isinstance(one, manim.ManimColor) for one in container
    )
    if number is None and size > 0 and is_of_colors and isinstance(node.value, ast.Name):
        source = written(index, code)
        left = source if isinstance(index, ast.Name) else f"({source})"
        text = f"{left} % len({node.value.id})"
        return Mend(
            instead(index, text, code), f"There are {size} colours: take them in turn, with `{text}`."
        )
    return None


def _as_text(error: BaseException, place: Place, code: str) -> Mend | None:
    """Make text of the number that a text is made of."""
    node = place.node
    called = callee_of(node, place.frame)
    if not isinstance(node, ast.Call) or not isinstance(called, type) or not node.args:
        return None
    message = str(error)
    if issubclass(called, manim.Text | manim.MarkupText | manim.SingleStringMathTex):
        if not re.search(
            r"'(?:int|float|numpy\.\w+)' object has no attribute|expected str|must be str|string or bytes",
            message,
        ):
            return None
        numbers = [
            one for one in node.args if isinstance(value_of(one, place.frame), int | float) or _is_number(one)
        ]
        given = numbers[0] if numbers else node.args[0] if len(node.args) == 1 else None
        if given is None or isinstance(given, ast.Starred | ast.JoinedStr):
            return None
        return Mend(instead(given, f"str({written(given, code)})", code))
    if called is manim.Table and "expected str instance, int found" in message:
        return Mend(instead(node.func, "IntegerTable", code), "For a table of numbers use `IntegerTable`.")
    if called is manim.Table and "expected str instance, float found" in message:
        return Mend(instead(node.func, "DecimalTable", code), "For a table of numbers use `DecimalTable`.")
    return None


def _of_rate(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the rate function that is named by a text."""
    found = keyword_of(place.node, "rate_func")
    text = found.value.value if found is not None and isinstance(found.value, ast.Constant) else None
    if found is None or not isinstance(text, str) or "callable" not in str(error):
        return None
    name = namespaced(text)
    return (
        Mend(instead(found.value, name, code), f"Give the function itself, without quotes: `{name}`.")
        if name
        else None
    )


def _of_formula(error: BaseException, place: Place, code: str) -> Mend | None:
    """Make a function of the text that is plotted."""
    node = place.node
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    text = given.value if isinstance(given, ast.Constant) else None
    if given is None or not isinstance(text, str) or "'str' object is not callable" not in str(error):
        return None
    tree = parsed(text)
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)} if tree else set()
    if len(names - {"np", "math"}) != 1:
        return None
    new = f"lambda {next(iter(names - {'np', 'math'}))}: {text}"
    return Mend(instead(given, new, code), f"Give a function: `{new}`.")


def _of_font(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the constant of a weight or slant that is given as text."""
    match = re.search(r"There is no (?:Font Weight|Style) Called (.+)", str(error))
    if match is None or place.node is None or match[1].upper() not in vars(manim):
        return None
    slant = keyword_of(place.node, "slant")
    if match[1] == "BOLD" and slant is not None and keyword_of(place.node, "weight") is None:
        text = f"weight={written(slant.value, code)}"
        return Mend(between(slant, slant, text, code), f"It is a weight: write `{text}`.")
    found = [one for one in ast.walk(place.node) if isinstance(one, ast.Constant) and one.value == match[1]]
    text = match[1].upper()
    if len(found) != 1 or vars(manim)[text] == match[1]:
        return None
    return Mend(instead(found[0], text, code), f"The names of Manim are constants: use `{text}`.")


RULES: tuple[Rule, ...] = (
    _of_points,
    _of_coordinates,
    _of_color,
    _of_index,
    _as_text,
    _of_rate,
    _of_formula,
    _of_font,
)
