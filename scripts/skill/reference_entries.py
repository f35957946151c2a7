"""Describes classes, methods and functions of the installed Manim in a line each."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

import manim
import numpy as np
from reference_topics import SAID

_ROLE = re.compile(r":[\w:]+:`~?\.?(?:[^`<]*<)?(?:[\w.]*\.)?([^`>]+)>?`")
_ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")
_SENTENCE_CHARACTERS_MAX = 160
_DEFAULT_CHARACTERS_MAX = 60
# Parameters that few authors need, or that only the OpenGL renderer reads.
_LEFT_OUT = (
    "renderer should_render shade_in_3d introducer suspend_mobject_updating use_override coor_mask "
    "submobject_to_align index_of_submobject_to_align recursive use_deepcopy"
)
# Parts of Manim that authors don't call.
_INNER = re.compile(
    r"^(?:_|init_|generate_|begin$|finish$|clean_up|interpolate|get_all_|is_|create_|setup_in|update_mobjects"
    r"|construct$|render$|setup$|tear_down$|compile_|compute_|get_run_time|get_sub_alpha|get_rate|get_default|check_"
    r"|get_moving_mobjects|font_list|hash_seed|modify_xml|get_mob_from|set_default|animation_overrid|update_default"
    r"|get_group_class|get_mobject_type_class|to_int|to_rgba_with|from_int|into$|parse$|get_piece_movement"
    r"|get_moving_mobject_movement|get_transformable_label_movement|get_vector_movement)"
)

Callee = Callable[..., object]
_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def class_entry(cls: type) -> str:
    """Return the line of a class: how it is made, what it is, what it extends."""
    base = next((one for one in cls.__mro__[1:] if _is_public(one)), None)
    extends = f" Extends `{base.__name__}`." if base is not None else ""
    return f"- `{_made(cls)}`{_after_dash(sentence_of(cls))}{extends}"


def _is_public(cls: type) -> bool:
    return cls.__module__.startswith("manim") and not cls.__name__.startswith("_")


def _made(cls: type) -> str:
    """Return how a class is made, with the keywords that private classes below it take."""
    parameters = _own_parameters(cls)
    for base in cls.__mro__[1:]:
        if _is_public(base) or not parameters or parameters[-1].kind is not inspect.Parameter.VAR_KEYWORD:
            break
        known = {one.name for one in parameters}
        added = [one for one in _own_parameters(base) if one.name not in known and one.kind not in _STARRED]
        parameters[-1:-1] = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in added]
    return f"{cls.__name__}({', '.join(_parameters(parameters))})"


def _own_parameters(callee: Callee) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(callee).parameters.values())
    return parameters[1:] if parameters and parameters[0].name in ("self", "cls") else parameters


def method_entries(cls: type) -> Iterator[str]:
    """Yield the lines of the methods and properties that a class itself defines for authors.

    Those without a docstring are in one line.
    """
    unsaid = []
    for name, value in vars(cls).items():
        is_member = inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)
        if _INNER.match(name) or not is_member:
            continue
        called, sentence = _member(cls, name)
        if sentence:
            yield f"  - `{called}`: {sentence}"
        elif not any(hasattr(base, name) for base in cls.__mro__[1:]):
            unsaid.append(f"`{called}`")
    if unsaid:
        yield f"  - also {', '.join(unsaid)}"


def method_entry(cls: type, name: str) -> str:
    """Return the line of a method or property, which may be inherited."""
    called, sentence = _member(cls, name)
    return f"  - `{called}`{_after_dash(sentence)}"


def _member(cls: type, name: str) -> tuple[str, str]:
    """Return how a method is called, or a property is read, and what it does."""
    value = inspect.getattr_static(cls, name)
    said = next((SAID[key] for base in cls.__mro__ if (key := f"{base.__name__}.{name}") in SAID), None)
    if isinstance(value, property):
        return f".{name}", said or sentence_of(value.fget)
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    return f".{signature_of(function, name)}", said or sentence_of(function)


def function_entry(function: Callee) -> str:
    """Return the line of a function."""
    return f"- `{signature_of(function)}`{_after_dash(sentence_of(function))}"


def signature_of(callee: Callee, name: str | None = None) -> str:
    """Return a name with its parameters and their defaults, as an author calls it."""
    shown = name or getattr(callee, "__name__", "")
    return f"{shown}({', '.join(_parameters(_own_parameters(callee)))})"


def _parameters(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    had_star = False
    for one in parameters:
        if one.name in _LEFT_OUT.split():
            continue
        if one.kind is one.VAR_POSITIONAL:
            had_star = True
            yield f"*{one.name}"
        elif one.kind is one.VAR_KEYWORD:
            yield "**kwargs"
        else:
            if one.kind is one.KEYWORD_ONLY and not had_star:
                had_star = True
                yield "*"
            yield one.name if one.default is one.empty else f"{one.name}={_default(one.default)}"


def _default(value: object) -> str:
    if (name := _names().get(_key(value))) is not None:
        return name
    if isinstance(value, manim.ManimColor):
        return repr(value.to_hex())
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        return _default(value.tolist())
    if isinstance(value, list | tuple):
        inner = ", ".join(_default(one) for one in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        inner = ", ".join(f"{key!r}: {_default(one)}" for key, one in value.items())
        return "{" + inner + "}" if len(inner) <= _DEFAULT_CHARACTERS_MAX else "{…}"
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__)).replace("<lambda>", "lambda")
    shown = repr(value)
    return "…" if " at 0x" in shown or len(shown) > _DEFAULT_CHARACTERS_MAX else shown


_NAMES: dict[object, str] = {}


def _names() -> dict[object, str]:
    """Return the names of Manim's directions and colours by what they are: the shortest one of each."""
    if not _NAMES:
        for name, value in vars(manim).items():
            key = _key(value)
            if name.isupper() and key is not None:
                _NAMES[key] = min(
                    _NAMES.get(key, name), name, key=lambda one: (one.startswith("PURE"), len(one))
                )
    return _NAMES


def _key(value: object) -> object:
    if isinstance(value, manim.ManimColor):
        return value.to_hex(with_alpha=True)
    if isinstance(value, np.ndarray) and value.shape == (3,):
        return tuple(value.tolist())
    return None


def sentence_of(described: object) -> str:
    """Return the first sentence of a docstring, as plain Markdown; empty if there is none of its own."""
    written = getattr(described, "__doc__", None) or ""
    if isinstance(described, type) and described.__doc__ is None:
        written = ""
    paragraph = inspect.cleandoc(written).split("\n\n", 1)[0].replace("\n", " ").strip()
    if paragraph.startswith((".. ", "Parameters", "Initialize self")):
        return ""
    plain = _ROLE.sub(r"`\1`", paragraph).replace("``", "`")
    plain = re.sub(r"`([^`<]+) <[^>]+>`_+", r"\1", plain)
    plain = re.sub(r"`?Point3D`?", "point", plain).replace("` s", "`s")
    plain = re.sub(r"(?<![`\w])\*(\w+)\*", r"`\1`", plain)
    plain = re.sub(r":math:|`(?=`)|\s*::$", "", plain)
    sentence = ""
    for part in re.split(r"(?<=[.:])\s", plain):
        sentence = f"{sentence} {part}".strip()
        if not _ABBREVIATIONS.search(sentence):
            break
    sentence = sentence.rstrip(":")
    if len(sentence) > _SENTENCE_CHARACTERS_MAX:
        sentence = f"{sentence[:_SENTENCE_CHARACTERS_MAX].rsplit(' ', 1)[0]} …"
        if sentence.count("`") % 2 == 1:
            sentence = sentence.replace(" …", "` …")
    return sentence if sentence == "" or sentence.endswith((".", "…", "!", "?")) else f"{sentence}."


def _after_dash(sentence: str) -> str:
    return f": {sentence}" if sentence else ""
