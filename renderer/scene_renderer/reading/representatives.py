"""Has Manim itself judge the arguments of calls, on objects that stand for those of the scene.

Only calls are tried whose arguments are known exactly, or are certainly of other kinds than Manim's
annotations say. Only Manim's own code is run, without TeX, for a short time.
"""

import inspect
import re
import time
import types
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import manim
import numpy as np
from manim import Animation, ManimColor, Mobject, VMobject
from manim.mobject.text.tex_mobject import SingleStringMathTex

from ..advice import signatures
from ..tex import typesetting
from . import kinds
from .pure import Unclear, literal
from .reading import Reading
from .values import Builder, Function, Method, Sequence, Value, is_known

if TYPE_CHECKING:
    from .calls import Arguments

_ERRORS = (TypeError, ValueError, AttributeError, LookupError, ZeroDivisionError, NotImplementedError)
# Modules whose classes are made in about a millisecond, and by their arguments only.
_CHEAP = (
    "manim.mobject.geometry.",
    "manim.mobject.types.vectorized_mobject",
    "manim.mobject.graphing.number_line",
)
_TRIED = ("manim.mobject.", "manim.animation.")
_SIZE_MAX = 200
_COUNT_MAX = 50
# All tries of a source together.
_SECONDS_MAX = 0.12
# What depends on the parts or the state of the object that a method is called on.
_OF_STATE = re.compile(
    r"^(?:restore|become|pop|remove\w*|resume\w*|suspend\w*|__\w+__|match_\w+|align_\w+|get_part\w*)$"
)


@dataclass
class _Spent:
    """The time that tries have taken, by source."""

    reading: Any = None
    seconds: float = 0.0
    made: dict[type, Mobject | None] = field(default_factory=dict)


_spent = _Spent()


class _NeedsTex(BaseException):
    """TeX would be started."""


def check_made(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check how an object of Manim is made."""
    initializer = inspect.getattr_static(kind, "__init__", None)
    if not kind.__module__.startswith(_TRIED) or not isinstance(initializer, types.FunctionType):
        return
    if issubclass(kind, manim.AnimationGroup) or _is_long(arguments):
        return
    is_cheap = kind.__module__.startswith(_CHEAP) or (
        not issubclass(kind, manim.CoordinateSystem | manim.Text) and _is_unusual(arguments)
    )
    _try(reading, arguments, initializer, [kind], is_literal_enough=is_cheap)


def _is_unusual(arguments: "Arguments") -> bool:
    """Whether there are tables or numbers that few classes take."""
    for value in _values(arguments):
        if isinstance(value, Sequence) and not value.is_open:
            return True
        if value.is_it and isinstance(value.thing, int | float) and value.thing <= 0:
            return True
    return False


def check_method(
    reading: Reading, owner: Value, function: types.FunctionType, arguments: "Arguments"
) -> None:
    """Check a method of a mobject."""
    name = function.__name__
    if _OF_STATE.search(name) or owner.is_it or _is_long(arguments):
        return
    if not arguments.given and not arguments.named:
        return
    makers = _makers(owner, function)
    calls = [lambda *given, make=make, **named: getattr(make(), name)(*given, **named) for make in makers]
    if not calls:
        return
    is_common = len(calls) > 1
    if not is_common and any(isinstance(value.thing, Mobject) for value in _values(arguments)):
        return  # it may depend on which
    _try(reading, arguments, function, calls, is_literal_enough=is_common)


def refuses(
    reading: Reading,
    function: types.FunctionType,
    made: type | None,
    owner: Value | None,
    keyword: str,
    arguments: "Arguments",
) -> TypeError | None:
    """Return the error for a keyword argument that a call passes on; None if it may be accepted."""
    if arguments.has_more or reading.is_dead or reading.report.silent or len(arguments.given) > _COUNT_MAX:
        return None
    if keyword in _keywords(made or function):
        return None
    if made is not None and made.__module__.startswith(_TRIED):
        call: Callable[..., Any] = made
    elif owner is not None and not owner.is_it and (makers := _makers(owner, function)):
        call = lambda *given, **named: getattr(makers[-1](), function.__name__)(*given, **named)  # noqa: E731
    else:
        return None
    if _is_spent(reading):
        return None
    start = time.perf_counter()
    try:
        given = [_stand_in(value) for value in arguments.given]
        found = _error_of(call, given, {keyword: 1})
    except Unclear:
        return None
    finally:
        _spent.seconds += time.perf_counter() - start
    is_refused = f"got an unexpected keyword argument '{keyword}'" in str(found)
    return found if isinstance(found, TypeError) and is_refused else None


@cache
def _keywords(called: object) -> frozenset[str]:
    """Return the keyword arguments that are named on the way of a call."""
    return frozenset(signatures.keywords_of(called))


def _is_spent(reading: Reading) -> bool:
    if _spent.reading is not reading:
        _spent.reading, _spent.seconds = reading, 0.0
    return _spent.seconds > _SECONDS_MAX


def _makers(owner: Value, function: types.FunctionType) -> list[Callable[[], Any]]:
    """Return what makes objects that stand for the one whose method is called."""
    name = function.__name__
    if vars(VMobject).get(name) is function or vars(Mobject).get(name) is function:
        if isinstance(owner.thing, VMobject):
            return [manim.Square, _group]
        return [_group_of_mobjects] if vars(Mobject).get(name) is function else []
    kind = owner.kind
    if owner.is_loose or not kind.__module__.startswith("manim.") or not isinstance(owner.thing, Mobject):
        return []
    return [] if issubclass(kind, SingleStringMathTex) else [lambda: _made(kind)]


def prepare(kind: type) -> None:
    """Make an object that stands for others of its class, if that is quick and needs no arguments."""
    initializer = inspect.getattr_static(kind, "__init__", None)
    if isinstance(initializer, types.FunctionType):
        kinds.annotations(initializer)
    if issubclass(kind, Mobject) and kind.__module__.startswith(
        (*_CHEAP, "manim.mobject.graphing.coordinate")
    ):
        with suppress(_NeedsTex, Unclear), typesetting.held(_refuse_tex):
            _made(kind)


def _made(kind: type) -> Any:
    if kind not in _spent.made:
        try:
            _spent.made[kind] = kind()
        except Exception:  # it needs arguments
            _spent.made[kind] = None
    found = _spent.made[kind]
    if found is None:
        raise Unclear
    return found.copy()


def _group() -> VMobject:
    return manim.VGroup(manim.Square(), manim.Circle().shift(manim.RIGHT), manim.Line())


def _group_of_mobjects() -> Mobject:
    return manim.Group(manim.Square(), manim.Circle().shift(manim.RIGHT))


def _is_long(arguments: "Arguments") -> bool:
    return arguments.has_more or arguments.has_more_named or len(arguments.given) > _COUNT_MAX


def _stand_in(value: Value) -> Any:
    """Return what stands for an argument. Raises Unclear if that is not clear enough."""
    if isinstance(value, Sequence):
        if value.is_open or len(value.parts) > _SIZE_MAX:
            raise Unclear
        parts = [_stand_in(part) for part in value.parts]
        return tuple(parts) if isinstance(value.thing, tuple) else parts
    if value.is_it and isinstance(value.thing, ManimColor | type):
        return value.thing
    if isinstance(value, Builder):
        return manim.Square().animate
    if isinstance(value, Function | Method):
        return value.thing
    if not is_known(value):
        raise Unclear
    thing = value.thing
    if isinstance(thing, Animation):
        return manim.Wait()
    if isinstance(thing, Mobject):
        return _representative(value)
    if not value.is_it and value.kind is float:
        return 0.5
    if not value.is_it and value.kind is np.ndarray:
        return np.array([1.0, 0.5, 0.0])
    return literal(value)


def _representative(value: Value) -> Mobject:
    kind = value.kind
    if not value.is_loose and kind.__module__.startswith((*_CHEAP, "manim.mobject.value_tracker")):
        with suppress(Unclear):
            found: Mobject = _made(kind)
            return found
    if isinstance(value.thing, VMobject):
        return manim.Square()
    if type(value.thing).__module__.startswith("manim.mobject.value_tracker"):
        raise Unclear
    return manim.Group(manim.Square())


def _values(arguments: "Arguments") -> list[Value]:
    return [*arguments.given, *arguments.named.values()]


def _is_literal(value: Value) -> bool:
    try:
        if value.is_it and isinstance(value.thing, ManimColor):
            return True
        literal(value)
    except Unclear:
        return False
    return True


def _try(
    reading: Reading,
    arguments: "Arguments",
    function: types.FunctionType,
    calls: list[Callable[..., Any]],
    *,
    is_literal_enough: bool,
) -> None:
    if reading.is_dead or reading.report.silent:
        return
    if _is_spent(reading):
        return
    values = _values(arguments)
    of_animation = isinstance(calls[0], type) and issubclass(calls[0], Animation)
    if of_animation and is_literal_enough:
        values = [value for value in values if not isinstance(value.thing, Mobject)]
    is_strange = any(
        kinds.is_strange(annotation, value) for annotation, value in kinds.expected(function, arguments)
    )
    if not is_strange and not (is_literal_enough and all(_is_literal(value) for value in values)):
        return
    error: BaseException | None = None
    start = time.perf_counter()
    try:
        for call in calls:
            given = [_stand_in(value) for value in arguments.given]
            named = {name: _stand_in(value) for name, value in arguments.named.items()}
            if any(
                isinstance(one, int | float) and abs(one) > _SIZE_MAX for one in (*given, *named.values())
            ):
                return
            error = _error_of(call, given, named)
            if error is None:
                return
    except Unclear:
        return
    finally:
        _spent.seconds += time.perf_counter() - start
    if error is not None:
        reading.error(error, arguments.node)


def _error_of(call: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> BaseException | None:
    with suppress(_NeedsTex), typesetting.held(_refuse_tex), np.errstate(all="ignore"):
        try:
            call(*given, **named)
        except _ERRORS as error:
            return error
        except Unclear:
            raise
        except Exception:
            return None
    return None


def _refuse_tex() -> None:
    raise _NeedsTex
