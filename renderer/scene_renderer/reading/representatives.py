"""Has Manim itself judge arguments that are known exactly: by objects that stand for those of the scene.

Only what all of them refuse is reported, and only Manim's own code is run. No formulas and texts are made.
"""

import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import manim
import numpy as np
from manim import Animation, ManimColor, Mobject, VMobject

from .pure import Unclear, literal
from .reading import Reading
from .values import Builder, Dictionary, Function, Method, Sequence, Value, is_known

if TYPE_CHECKING:
    from .calls import Arguments

_ERRORS = (TypeError, ValueError, AttributeError, LookupError, ZeroDivisionError, NotImplementedError)
# Modules whose classes are made in less than a millisecond.
_CHEAP = ("manim.mobject.geometry.", "manim.mobject.types.vectorized_mobject")
_SIZE_MAX = 200
_COUNT_MAX = 50
# What depends on the parts or the state of the object that a method is called on.
_OF_STATE = ("restore", "become", "set_value", "point_from_proportion", "get_point_from_function", "pop")


def check_mobject(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check how a simple mobject is made, by making it."""
    if not kind.__module__.startswith(_CHEAP) or _is_long(arguments):
        return
    _try(reading, arguments, [kind])


def check_animation(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check what is animated, if something certainly is no mobject."""
    initializer = inspect.getattr_static(kind, "__init__", None)
    if not isinstance(initializer, types.FunctionType) or arguments.has_more:
        return
    if issubclass(kind, manim.AnimationGroup | manim.LaggedStartMap):
        return
    if not any(_is_no_mobject(value) for value in _mobjects(initializer, arguments)):
        return
    if _COUNT_MAX < len(arguments.given):
        return
    _try(reading, arguments, [kind], only_given=True)


def check_method(reading: Reading, owner: Value, function: types.FunctionType, arguments: "Arguments") -> None:
    """Check a method that all mobjects have, by calling it on some."""
    name = function.__name__
    if name.startswith("_") and not name.startswith("__") or name in _OF_STATE or not _is_common(function, owner):
        return
    if not arguments.given and not arguments.named or _is_long(arguments):
        return
    makers: list[Callable[[], Any]] = [manim.Square, _group] if isinstance(owner.thing, VMobject) else [_group_of_mobjects]
    calls = [_bound(make, name) for make in makers]
    _try(reading, arguments, calls)


def _bound(make: Callable[[], Any], name: str) -> Callable[..., Any]:
    return lambda *given, **named: getattr(make(), name)(*given, **named)


def _group() -> VMobject:
    return manim.VGroup(manim.Square(), manim.Circle().shift(manim.RIGHT), manim.Line())


def _group_of_mobjects() -> Mobject:
    return manim.Group(manim.Square(), manim.Circle().shift(manim.RIGHT))


def _is_common(function: types.FunctionType, owner: Value) -> bool:
    """Whether a method is that of all mobjects, or of all with curves."""
    name = function.__name__
    return any(vars(base).get(name) is function for base in (Mobject, VMobject)) and (
        isinstance(owner.thing, VMobject) or vars(Mobject).get(name) is function
    )


def _mobjects(initializer: types.FunctionType, arguments: "Arguments") -> Iterator[Value]:
    """Yield the arguments that must be mobjects."""
    parameters = [*inspect.signature(initializer).parameters.values()][1:]
    given = iter(arguments.given)
    for parameter in parameters:
        is_of_mobjects = parameter.name in (
            *("mobject", "vmobject", "mobjects", "mobject1", "mobject2", "target_mobject", "path"),
            *("text", "arrow", "focus_point_mobject"),
        )
        if parameter.kind is parameter.VAR_POSITIONAL:
            yield from given if is_of_mobjects else ()
            return
        if (value := next(given, None)) is None:
            return
        if is_of_mobjects:
            yield value


def _is_no_mobject(value: Value) -> bool:
    if isinstance(value, Builder | Function | Dictionary) or not is_known(value):
        return isinstance(value, Builder | Function)
    if isinstance(value, Sequence):
        return not value.is_open
    if isinstance(value, Method):
        return value.owner is not None and isinstance(value.owner.thing, Mobject)
    thing = value.thing
    if isinstance(thing, Mobject):
        return False
    if value.is_it:
        return isinstance(thing, type | int | float | str | np.ndarray) and not isinstance(thing, type(None))
    return isinstance(thing, Animation) or (not value.is_loose and value.kind in (list, tuple, str, int, float))


def _is_long(arguments: "Arguments") -> bool:
    return arguments.has_more or arguments.has_more_named or len(arguments.given) > _COUNT_MAX


def _stand_in(value: Value, *, is_lax: bool) -> Any:
    """Return an argument. Raises Unclear if it is not known exactly."""
    if isinstance(value, Sequence):
        if value.is_open or len(value.parts) > _SIZE_MAX:
            raise Unclear
        parts = [_stand_in(part, is_lax=is_lax) for part in value.parts]
        return tuple(parts) if isinstance(value.thing, tuple) else parts
    if value.is_it and isinstance(value.thing, ManimColor):
        return value.thing
    if is_lax and is_known(value):
        if isinstance(value, Builder):
            return manim.Square().animate
        if isinstance(value, Function | Method):
            return value.thing
        if isinstance(value.thing, Animation):
            return manim.Wait()
        if isinstance(value.thing, VMobject):
            return manim.Square()
        if isinstance(value.thing, Mobject):
            return manim.Group(manim.Square())
        if value.is_it and isinstance(value.thing, type):
            return value.thing
    return literal(value)


def _try(
    reading: Reading, arguments: "Arguments", calls: list[Callable[..., Any]], *, only_given: bool = False
) -> None:
    if reading.is_dead or reading.report.silent:
        return
    error: BaseException | None = None
    for call in calls:
        try:
            given = [_stand_in(value, is_lax=only_given) for value in arguments.given]
            named = {
                name: _stand_in(value, is_lax=only_given)
                for name, value in arguments.named.items()
                if not only_given
            }
        except Unclear:
            return
        if any(isinstance(one, int | float) and abs(one) > _SIZE_MAX for one in (*given, *named.values())):
            return
        error = _error_of(call, given, named)
        if error is None:
            return
    if error is not None:
        reading.error(error, arguments.node)


def _error_of(call: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> BaseException | None:
    with suppress(Exception), np.errstate(all="ignore"):
        try:
            call(*given, **named)
        except _ERRORS as error:
            return error
    return None
