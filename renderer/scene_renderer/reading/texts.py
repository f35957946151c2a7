"""Values in f-strings."""

import ast
import inspect

from manim import Mobject

from .reading import Reading
from .values import UNKNOWN, Value, is_known


def is_exact(reading: Reading, node: ast.expr) -> bool:
    """Whether the text of an expression in an f-string is known."""
    value = reading.values.get(node, UNKNOWN)
    return value.is_it and isinstance(value.thing, str | int)


def check_format(reading: Reading, node: ast.FormattedValue, value: Value, spec: Value) -> None:
    """Check the format of a value in an f-string."""
    if not is_known(value) or not spec.is_it or not isinstance(spec.thing, str) or node.conversion != -1:
        return
    kind = value.kind
    if value.is_it and isinstance(value.thing, int | float | str) and len(spec.thing) < 8:
        try:
            format(value.thing, spec.thing)
        except (ValueError, TypeError) as error:
            reading.error(error, node.value)
    elif (
        isinstance(value.thing, Mobject)
        and spec.thing
        and inspect.getattr_static(kind, "__format__") is vars(object)["__format__"]
    ):
        text = f"unsupported format string passed to {kind.__name__}.__format__"
        reading.error(TypeError(text), node.value)
