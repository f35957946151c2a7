"""The parameters of a scene: values that a render is given, and the scene's declarations of them."""

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from ..messages import Param, ParamType
from ..scene_error import SceneError

DECLARED_MAX = 100
_NAME_CHARACTERS_MAX = 100
_LABEL_CHARACTERS_MAX = 200
_JSON_CHARACTERS_MAX = 4096
_SHOWN_CHARACTERS_MAX = 80
# The names of types, as JSON Schema has them.
TYPES: dict[type, ParamType] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_NEEDED: dict[ParamType, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}

_given: dict[str, Any] = {}
_declared: dict[str, Param] = {}


def give(text: str) -> None:
    """Set the parameters of this process's job: the text of a JSON object."""
    _given.clear()
    _given.update(json.loads(text))
    _declared.clear()


def given(name: str) -> Any:
    """Return the value that a parameter was given; None if it was given none."""
    return _given.get(name)


def declared() -> list[Param]:
    """Return the parameters that the scene has declared so far."""
    return list(_declared.values())


def param(
    name: str,
    default: Any,
    *,
    type: type | None = None,
    label: str | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Sequence[Any] | None = None,
) -> Any:
    """Declare a parameter, and return the value that the render was given for it, else `default`.

    `type`: `str`, `int`, `float`, `bool`, `list` or `dict`; default: that of `default`, or any if it is None.
    `label`: its name in forms. `minimum`, `maximum`: of a number, or of the length of another value.
    `choices`: the only values that it may have. A scene can declare parameters in its class, in its module or
    where it needs them. Raises SceneError for a value that breaks a rule.
    """
    if not isinstance(name, str) or not name.isidentifier() or len(name) > _NAME_CHARACTERS_MAX:
        _refuse(f"The name of a parameter is a Python identifier, not {_shown(name)}.")
    kind = _kind_of(name, type, default)
    allowed = None if choices is None else list(choices)
    rules = _Rules(name, kind, minimum, maximum, allowed)
    problem = "" if default is None else rules.problem(default)
    if problem:
        _refuse(f"The default of the parameter {name} must be {problem}, not {_shown(default)}.")
    if name in _declared or len(_declared) < DECLARED_MAX:
        _declared[name] = declaration(name, kind, default, label, minimum, maximum, allowed)
    if name not in _given:
        return default
    value = _given[name]
    if problem := rules.problem(value):
        _refuse(
            f"The parameter {name} must be {problem}, not {_shown(value)}.",
            f"Give another value for `{name}`, or change what the scene declares.",
        )
    return float(value) if kind == "number" else value


def declaration(
    name: str,
    kind: ParamType,
    default: object,
    label: str | None,
    minimum: float | None,
    maximum: float | None,
    choices: list[Any] | None,
) -> Param:
    """Return a declaration as it is reported."""
    return {
        "name": name,
        "type": kind,
        "default": _json(default),
        "label": None if label is None else str(label)[:_LABEL_CHARACTERS_MAX],
        "minimum": minimum,
        "maximum": maximum,
        "choices": None if choices is None else _json(choices),
    }


def kind_of_value(value: object) -> ParamType:
    """Return the type of a parameter whose default is a value."""
    return next((name for kind, name in TYPES.items() if _is(value, kind)), "any")


class _Rules:
    """What a scene declares of the values of a parameter."""

    def __init__(
        self,
        name: str,
        kind: ParamType,
        minimum: float | None,
        maximum: float | None,
        choices: list[Any] | None,
    ) -> None:
        self._kind = kind
        self._minimum = minimum
        self._maximum = maximum
        self._choices = choices
        for limit in (minimum, maximum):
            if limit is not None and not (_is(limit, float) and math.isfinite(limit)):
                _refuse(f"The bounds of the parameter {name} are numbers, not {_shown(limit)}.")

    def problem(self, value: object) -> str:
        """Return what a value must be; nothing if it is that."""
        if self._kind != "any" and not any(
            _is(value, kind) for kind, name in TYPES.items() if name == self._kind
        ):
            return _NEEDED[self._kind]
        if self._choices is not None and value not in self._choices:
            return f"one of {', '.join(_shown(choice) for choice in self._choices[:20])}"
        return self._out_of_bounds(value)

    def _out_of_bounds(self, value: object) -> str:
        is_number = _is(value, float)
        sized = len(value) if isinstance(value, str | list | dict) else None
        size = value if isinstance(value, int | float) and is_number else sized
        if size is None:
            return ""
        of = "" if is_number else "of a length "
        bounds = [
            f"at least {self._minimum:g}" if self._minimum is not None else "",
            f"at most {self._maximum:g}" if self._maximum is not None else "",
        ]
        is_small = self._minimum is not None and not size >= self._minimum
        is_large = self._maximum is not None and not size <= self._maximum
        return of + " and ".join(filter(None, bounds)) if is_small or is_large else ""


def _kind_of(name: str, kind: type | None, default: object) -> ParamType:
    if kind is None:
        return kind_of_value(default)
    if kind not in TYPES:
        _refuse(f"The type of the parameter {name} is str, int, float, bool, list or dict.")
    return TYPES[kind]


def _is(value: object, kind: type) -> bool:
    """Whether a value is of a type: whole numbers are numbers, True and False are not."""
    if kind in (int, float) and isinstance(value, bool):
        return False
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, tuple | list) if kind is list else isinstance(value, kind)


def _json(value: object) -> str | None:
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= _JSON_CHARACTERS_MAX else None


def _shown(value: object) -> str:
    text = _json(value) or repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[: _SHOWN_CHARACTERS_MAX - 1]}…"


def _refuse(message: str, hint: str | None = None) -> NoReturn:
    raise SceneError(message, kind="scene:param", hint=hint)
