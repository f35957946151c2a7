"""Calls: whether the arguments fit, and what is returned."""

import ast
import inspect
import re
import types
from dataclasses import dataclass

from manim import Animation, Mobject

from ..advice.place import keyword_of
from . import own, pure, representatives, rules
from .attributes import result_of
from .installed import INSTALLED, subclasses_of
from .reading import Reading
from .values import (
    UNKNOWN,
    Accessor,
    Builder,
    Dictionary,
    Function,
    Method,
    Sequence,
    Value,
    exactly,
    instance,
    is_known,
)

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '([^']+)'")


@dataclass
class Arguments:
    """The arguments of a call."""

    node: ast.Call
    given: list[Value]
    named: dict[str, Value]
    # There are others: `*x` or `**x`.
    has_more: bool
    has_more_named: bool


def call(reading: Reading, called: Value, arguments: Arguments) -> Value:
    """Check a call, and return what is returned."""
    node = arguments.node
    if not is_known(called):
        _open(arguments)
        return UNKNOWN
    if isinstance(called, Accessor):
        return _access(reading, called, arguments)
    if isinstance(called, Builder):
        if called.has_method:
            text = "Animation arguments must be passed before accessing methods and can only be passed once"
            reading.error(ValueError(text), node)
        elif arguments.given:
            text = "_AnimationBuilder.__call__() takes 1 positional argument but "
            reading.error(TypeError(f"{text}{len(arguments.given) + 1} were given"), node)
        return called
    if isinstance(called, Function):
        return _call_own(reading, called, None, arguments)
    if isinstance(called, Method):
        return _call_method(reading, called, arguments)
    thing = called.thing
    if called.is_it and isinstance(thing, type):
        return _make(reading, thing, arguments)
    if called.is_it and isinstance(thing, types.FunctionType):
        if thing in reading.functions:
            return _call_own(reading, reading.functions[thing], None, arguments)
        fits(reading, thing, None, None, arguments)
        _open(arguments, is_pure=_is_of_manim(thing))
        rules.on_call(reading, thing, None, arguments)
        return pure.result(reading, thing, arguments) or result_of(thing, None)
    if called.is_it and callable(thing):
        _open(arguments, is_pure=thing in pure.FUNCTIONS)
        return pure.result(reading, thing, arguments) or UNKNOWN
    kind = called.kind
    if not callable(thing) and kind is not own.Opaque:
        kinds = [kind, *(subclasses_of(kind) if called.is_loose else [])]
        if not any("__call__" in vars(base) for one in kinds for base in one.__mro__):
            reading.error(TypeError(f"'{kind.__name__}' object is not callable"), node)
    return UNKNOWN


def _is_of_manim(thing: object) -> bool:
    """Whether it is a function or class of Manim, which don't change lists that they are given."""
    return (getattr(thing, "__module__", None) or "").startswith("manim.")


def _open(arguments: Arguments, *, is_pure: bool = False) -> None:
    """Note that lists and dictionaries that are passed on may be changed."""
    for value in (*arguments.given, *arguments.named.values()):
        if isinstance(value, Sequence | Dictionary) and not is_pure:
            value.change()


def fits(
    reading: Reading,
    function: types.FunctionType,
    receiver: type | None,
    made: type | None,
    arguments: Arguments,
    owner: Value | None = None,
) -> bool:
    """Check the arguments of a function.

    `receiver`: the class of its first one; `made`: what it initializes; `owner`: whose method it is.
    """
    node = arguments.node
    names = [*arguments.named]
    own_function = own.mimic(function)
    bound = () if receiver is None else (None,)
    given = [None for _ in arguments.given]
    is_fitting = True
    while True:
        try:
            own_function(*bound, *given, **dict.fromkeys(names))
        except TypeError as error:
            match = _UNEXPECTED.search(str(error))
            if match and match[1] in names:
                reading.error(error, node)
                names.remove(match[1])
                is_fitting = False
                continue
            is_missing = "missing" in str(error)
            if (arguments.has_more and (is_missing or "multiple" not in str(error))) or (
                arguments.has_more_named and is_missing
            ):
                break
            reading.error(error, node)
            return False
        break
    if not function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        return is_fitting
    for name in names:
        if (
            name
            in function.__code__.co_varnames[
                : function.__code__.co_argcount + function.__code__.co_kwonlyargcount
            ]
        ):
            continue
        refuser = INSTALLED.refusal(made or function, name, receiver)
        if refuser is not None and keyword_of(node, name) is not None:
            reading.error(TypeError(f"{refuser}() got an unexpected keyword argument '{name}'"), node)
            is_fitting = False
        elif (
            error_of := representatives.refuses(reading, function, made, owner, name, arguments)
        ) is not None:
            reading.error(error_of, node)
            is_fitting = False
        elif made is not None and (twice := INSTALLED.collides(made, name)) is not None:
            text = f"{twice}() got multiple values for keyword argument '{name}'"
            reading.error(TypeError(text), node)
            is_fitting = False
    return is_fitting


def _make(reading: Reading, kind: type, arguments: Arguments) -> Value:
    if type(kind).__call__ is not type.__call__ or kind is type or kind is super:
        _open(arguments)
        return UNKNOWN
    found = pure.result(reading, kind, arguments)
    if found is not None:
        return found
    _open(arguments, is_pure=_is_of_manim(kind))
    initializer = inspect.getattr_static(kind, "__init__", None)
    new = inspect.getattr_static(kind, "__new__", None)
    new = new.__func__ if isinstance(new, staticmethod) else new
    if kind in reading.classes and new is not object.__new__ and new is not Animation.__new__:
        return UNKNOWN
    if issubclass(kind, Animation) and _is_replaced(kind, arguments):
        return UNKNOWN
    if inspect.isabstract(kind):
        return UNKNOWN
    if isinstance(initializer, types.FunctionType):
        if not fits(reading, initializer, kind, kind, arguments):
            return instance(kind)
    elif initializer is object.__init__ and new is object.__new__:
        _refuse_arguments(reading, kind, arguments)
    rules.on_made(reading, kind, arguments)
    if issubclass(kind, BaseException):
        return UNKNOWN
    return instance(kind)


def _refuse_arguments(reading: Reading, kind: type, arguments: Arguments) -> None:
    if kind in reading.classes and (arguments.given or arguments.named):
        reading.error(TypeError(f"{kind.__name__}() takes no arguments"), arguments.node)


def _is_replaced(kind: type, arguments: Arguments) -> bool:
    """Whether a mobject may replace an animation by another, with other arguments."""
    if not INSTALLED.overridden & {*kind.__mro__}:
        return False
    mobject = arguments.given[0] if arguments.given else UNKNOWN
    if not is_known(mobject) or mobject.is_loose:
        return True
    return any(
        kind in getattr(base, "animation_overrides", {})
        for base in (mobject.kind.__mro__ if isinstance(mobject.thing, Mobject) else ())
    )


def _call_own(reading: Reading, function: Function, owner: Value | None, arguments: Arguments) -> Value:
    receiver = None if owner is None else owner.kind
    fits(reading, function.thing, receiver, None, arguments)
    _open(arguments)
    return reading.result_of(reading, function, receiver)


def _call_method(reading: Reading, method: Method, arguments: Arguments) -> Value:
    function, owner = method.thing, method.owner
    if not isinstance(function, types.FunctionType):
        if isinstance(function, types.MethodDescriptorType):
            _open(arguments, is_pure=True)
            return pure.result_of_method(reading, method, arguments)
        _open(arguments)
        if isinstance(function, types.BuiltinMethodType):
            return pure.result(reading, function, arguments) or UNKNOWN
        return UNKNOWN
    target = Value(owner.thing) if isinstance(owner, Builder) else owner
    if function in reading.functions:
        result = _call_own(reading, reading.functions[function], target, arguments)
    else:
        receiver = None
        if target is not None:
            receiver = target.thing if isinstance(target.thing, type) else target.kind
        is_class_method = owner is not None and owner.is_it and isinstance(owner.thing, type)
        is_fitting = fits(reading, function, receiver, None, arguments, target)
        _open(arguments, is_pure=_is_of_manim(function))
        if is_fitting and not is_class_method:
            rules.on_call(reading, function, target, arguments)
        result = result_of(function, target)
    if isinstance(owner, Builder):
        return Builder(owner.thing, is_loose=owner.is_loose, has_method=True)
    return result


def _access(reading: Reading, accessor: Accessor, arguments: Arguments) -> Value:
    """Check a call of what Manim makes of `get_…` and `set_…`."""
    name, kind = accessor.name[4:], type(accessor.thing)
    count = len(arguments.given)
    given = count + 1
    verb = "was" if given == 1 else "were"
    if accessor.name.startswith("get_"):
        if arguments.named and not arguments.has_more:
            keyword = next(iter(arguments.named))
            text = f"Mobject.__getattr__.<locals>.getter() got an unexpected keyword argument '{keyword}'"
            reading.error(TypeError(text), arguments.node)
        elif count and not arguments.has_more:
            text = (
                f"Mobject.__getattr__.<locals>.getter() takes 1 positional argument but {given} {verb} given"
            )
            reading.error(TypeError(text), arguments.node)
        elif (
            name not in reading.free
            and not reading.is_attributes_wild
            and INSTALLED.lacks(kind, name, is_loose=accessor.is_loose)
        ):
            text = f"{kind.__name__} object has no attribute '{name}'"
            error = AttributeError(text, name=accessor.name, obj=accessor.thing)
            reading.error(error, arguments.node)
        return UNKNOWN
    if not arguments.has_more and not arguments.has_more_named:
        if arguments.named and {*arguments.named} != {"value"}:
            text = f"got an unexpected keyword argument '{next(iter(arguments.named))}'"
        elif count > 1:
            text = f"takes 2 positional arguments but {given} {verb} given"
        elif count + len(arguments.named) == 0:
            text = "missing 1 required positional argument: 'value'"
        else:
            mobject = Value(accessor.thing, is_loose=accessor.is_loose)
            return Builder(accessor.thing, is_loose=accessor.is_loose) if accessor.is_animated else mobject
        reading.error(TypeError(f"Mobject.__getattr__.<locals>.setter() {text}"), arguments.node)
    return UNKNOWN


__all__ = ["Arguments", "call", "exactly"]
