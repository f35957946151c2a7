"""Validates messages by the description of the protocol, as far as it uses JSON Schema."""

import json
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

_PROTOCOL = Path(__file__).parents[2] / "renderer/scene_renderer/protocol.json"
_SCHEMAS: Schema = json.loads(_PROTOCOL.read_text())["$defs"]
_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}


def check(name: str, value: Any) -> None:
    """Raise AssertionError unless a value is what the protocol describes by this name."""
    _check(_SCHEMAS[name], value)


def _check(schema: Schema, value: Any) -> None:
    for keyword, rule in schema.items():
        match keyword:
            case "description":
                continue
            case "$ref":
                check(rule.removeprefix("#/$defs/"), value)
            case "oneOf" | "anyOf":
                assert any(_fits(one, value) for one in rule), f"{value!r} is none of {rule}"
            case "const":
                assert value == rule, f"{value!r} is not {rule!r}"
            case "enum":
                assert value in rule, f"{value!r} is none of {rule}"
            case "type":
                is_right = isinstance(value, _TYPES[rule]) and isinstance(value, bool) == (rule == "boolean")
                assert is_right, f"{value!r} is no {rule}"
            case "minimum":
                assert value >= rule, f"{value!r} is below {rule}"
            case "minLength":
                assert len(value) >= rule, f"fewer than {rule} characters: {value!r}"
            case "maxLength":
                assert len(value) <= rule, f"more than {rule} characters: {value!r}"
            case "items":
                for item in value:
                    _check(rule, item)
            case "required":
                assert value.keys() >= {*rule}, f"{value!r} lacks one of {rule}"
            case "properties":
                for name in value.keys() & rule.keys():
                    _check(rule[name], value[name])
            case "additionalProperties":
                others = value.keys() - schema.get("properties", {}).keys()
                assert rule or not others, f"unknown: {others}"
                for name in others:
                    _check(rule, value[name])
            case _:
                raise ValueError(f"unknown keyword: {keyword}")


def _fits(schema: Schema, value: Any) -> bool:
    try:
        _check(schema, value)
    except AssertionError:
        return False
    return True
