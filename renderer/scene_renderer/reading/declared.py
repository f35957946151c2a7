"""The parameters that a source declares, as far as they are written out."""

import ast
import math
from collections.abc import Iterator

from ..authors import params
from ..messages import Param, ParamType

_MODULE, _FUNCTION = "scenepress_scene", "param"
_ARGUMENTS = ("name", "default")


def declared_in(code: str) -> list[Param]:
    """Return the parameters that a source declares, in the order of its lines. Raises SyntaxError."""
    tree = ast.parse(code)
    modules, functions = _names(tree)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found: dict[str, Param] = {}
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        if _is_declaration(call.func, modules, functions):
            for one in _declared_by(call):
                found.setdefault(one["name"], one)
    return list(found.values())[: params.DECLARED_MAX]


def _names(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names of the module and of the function in a source."""
    modules, functions = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == _MODULE}
        elif isinstance(node, ast.ImportFrom) and node.module == _MODULE and not node.level:
            for alias in node.names:
                if alias.name in (_FUNCTION, "*"):
                    functions.add(alias.asname or _FUNCTION)
    return modules, functions


def _is_declaration(called: ast.expr, modules: set[str], functions: set[str]) -> bool:
    match called:
        case ast.Name(id=name):
            return name in functions
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return module in modules and name == _FUNCTION
    return False


def _declared_by(call: ast.Call) -> Iterator[Param]:
    """Yield what a call declares, if its name is written out."""
    given = dict(zip(_ARGUMENTS, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    values = {name: _value(node) for name, node in given.items()}
    name, default = values.get("name"), values.get("default")
    if isinstance(name, str) and name.isidentifier():
        label, choices = values.get("label"), values.get("choices")
        yield params.declaration(
            name,
            _kind(given.get("type"), default),
            default,
            label if isinstance(label, str) else None,
            _number(values.get("minimum")),
            _number(values.get("maximum")),
            list(choices) if isinstance(choices, list | tuple) else None,
        )


def _kind(node: ast.expr | None, default: object) -> ParamType:
    if node is None:
        return params.kind_of_value(default)
    names = {kind.__name__: name for kind, name in params.TYPES.items()}
    return names.get(node.id, "any") if isinstance(node, ast.Name) else "any"


def _value(node: ast.expr) -> object:
    """Return a value that is written out; None: it is not."""
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if isinstance(value, int | float) and is_number and math.isfinite(value) else None
