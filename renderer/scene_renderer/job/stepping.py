"""Tells whether a play leads to another end if fewer of its frames are computed.

If in doubt, a play counts as depending on its frames: with updaters that are called with the time that has
passed, with code of the scene that may change something bit by bit or draw random numbers, and with such
animations.
"""

import builtins
import dis
import inspect
import math
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from manim import Animation, ChangeSpeed, Mobject, Scene, TracedPath, UpdateFromFunc, VMobject
from manim.animation.composition import AnimationGroup
from manim.animation.movement import PhaseFlow

_DEPTH_MAX = 6
# Methods that set something, whatever it was before.
_SETTING = re.compile(
    r"align_to|arrange|arrange_in_grid|become|center|clear_points|generate_target|match_\w+|move_to|next_to"
    r"|put_start_and_end_on|set_(?!submobject)\w+|surround|to_corner|to_edge"
)
# Methods that change something bit by bit, of mobjects, lists, dictionaries and sets.
_CHANGING = re.compile(
    r"(add|append|extend|insert|pop|remove|clear|update|increment|suspend|resume|discard|sort)(_\w+)?"
)
_STORING = frozenset(
    {"STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_ATTR", "DELETE_SUBSCR"}
)
_CONSUMING = frozenset({"next", "input", "setattr", "delattr", "exec", "eval", "iter", "open", "id"})
_STEPPED_ANIMATIONS = (ChangeSpeed, PhaseFlow)
_RANDOM = (np.random,)


def depends_on_its_frames(scene: Scene) -> bool:
    """Return whether the play that has begun may end differently if only some of its frames are computed."""
    animations = scene.animations or []
    return bool(
        scene.updaters
        or scene.stop_condition is not None
        or scene.always_update_mobjects
        or _is_changed(type(scene))
        or any(map(_is_stepped, animations))
        or any(not _sets_only(updater) for updater in _updaters(scene, animations))
    )


@cache
def _telling() -> frozenset[str]:
    """Return the attributes of Manim, NumPy and Python that tell something, or make something new."""
    found: set[str] = set()
    changing: set[str] = set()
    kinds = [Mobject]
    for kind in kinds:
        kinds += [inner for inner in kind.__subclasses__() if _is_manims(inner)]
        for name, part in vars(kind).items():
            found.add(name)
            if isinstance(part, FunctionType) and part.__annotations__.get("return") == "Self":
                changing.add(name)
    for other in (Mobject(), VMobject(), np, np.linalg, np.ndarray, math, str, list, dict, float):
        found.update(dir(other))
    return frozenset(name for name in found - changing if not _CHANGING.fullmatch(name)) - {"random"}


def _is_manims(part: object) -> bool:
    return (getattr(part, "__module__", None) or "").split(".")[0] == "manim"


def _is_changed(scene: type[Scene]) -> bool:
    """Whether a scene replaces what Manim calls for each frame."""
    methods = ("update_to_time", "update_mobjects", "update_self", "update_meshes", "play_internal")
    return any(getattr(scene, name) is not getattr(Scene, name) for name in methods)


def _is_stepped(animation: Animation) -> bool:
    if isinstance(animation, AnimationGroup) and any(map(_is_stepped, animation.animations)):
        return True
    if isinstance(animation, UpdateFromFunc) and not _sets_only(animation.update_function):
        return True
    return isinstance(animation, _STEPPED_ANIMATIONS) or not type(animation).__module__.startswith("manim.")


def _updaters(scene: Scene, animations: Iterable[Animation]) -> Iterator[Callable[..., Any]]:
    roots = [*scene.mobjects, *scene.foreground_mobjects, *(animation.mobject for animation in animations)]
    seen: set[int] = set()
    for root in roots:
        if not isinstance(root, Mobject):
            continue
        for mobject in root.get_family():
            if id(mobject) in seen:
                continue
            seen.add(id(mobject))
            if isinstance(mobject, TracedPath) or _is_changed_mobject(type(mobject)):
                yield _accumulating
            yield from mobject.updaters


def _is_changed_mobject(kind: type[Mobject]) -> bool:
    """Whether the scene has replaced what Manim calls for each frame of a mobject."""
    owners = (base for base in kind.__mro__ if not _is_manims(base))
    return any(name in vars(owner) for owner in owners for name in ("update", "interpolate", "become"))


def _accumulating(_: Mobject, dt: float) -> None:
    """Stand for an updater that depends on each frame."""


def _sets_only(function: object, depth: int = 0) -> bool:
    """Whether calling a function once more, or less often, changes nothing that stays."""
    if depth > _DEPTH_MAX:
        return False
    if isinstance(function, MethodType):
        return bool(_SETTING.fullmatch(function.__name__)) or _sets_only(function.__func__, depth)
    if not isinstance(function, FunctionType):
        return False
    if depth == 0 and "dt" in inspect.signature(function).parameters:
        return False
    given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    inner = inspect.getclosurevars(function)
    known = ChainMap(dict(inner.nonlocals), function.__globals__, vars(builtins))
    return all(_is_harmless(value, depth) for value in given) and _code_sets_only(
        function.__code__, known, depth
    )


def _code_sets_only(code: CodeType, known: Mapping[str, Any], depth: int) -> bool:
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        if instruction.opname in _STORING:
            return False
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            if not (_SETTING.fullmatch(name) or name in _telling()):
                return False
        elif instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            # A variable of an outer function that is running is made of what is looked at there.
            if name in _CONSUMING or (name in known and not _is_harmless(known[name], depth)):
                return False
        elif instruction.opname in ("IMPORT_NAME", "YIELD_VALUE", "SEND"):
            return False
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return all(_code_sets_only(part, known, depth) for part in inner)


def _is_harmless(value: object, depth: int) -> bool:
    """Whether a value may be used by an updater: an object, or what makes one or computes something."""
    if isinstance(value, ModuleType):
        return value not in _RANDOM and not value.__name__.endswith("random") and value.__name__ != "time"
    if isinstance(value, type):
        return value.__module__.split(".")[0] in ("builtins", "manim", "numpy", "math")
    if isinstance(value, FunctionType):
        if not _is_manims(value):
            return _sets_only(value, depth + 1)
        name, is_method = value.__name__, "." in value.__qualname__
        return not is_method or bool(_SETTING.fullmatch(name)) or name in _telling()
    if isinstance(value, MethodType):
        return _sets_only(value, depth + 1)
    if isinstance(value, BuiltinFunctionType):
        return (value.__module__ or "") in ("builtins", "math", "numpy", "")
    is_known = type(value).__module__.split(".")[0] in ("builtins", "manim", "numpy")
    return is_known and (not isinstance(value, Iterator) or isinstance(value, Mobject))
