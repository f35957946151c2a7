"""What is known of the installed Manim, by introspection: attributes, arguments and results."""

import ast
import builtins
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import manim
import numpy as np
from manim.mobject.mobject import _AnimationBuilder

from .sources import Passing, Sources, passing_of

_MANIM = Path(manim.__file__).parent
_OWN = Path(__file__).parents[1]


class Installed:
    """Answers questions about imported classes and functions; remembers the answers."""

    def __init__(self) -> None:
        self._refusals: dict[tuple[object, str, type | None], str | None] = {}
        self._own: WeakKeyDictionary[types.FunctionType, Passing] = WeakKeyDictionary()

    @cached_property
    def sources(self) -> Sources:
        """What the source files of Manim say."""
        found = Sources()
        for file in sorted({*_files_of("manim"), *_OWN.glob("faster/*.py"), *_OWN.glob("job/*.py")}):
            found.read(file)
        return found

    def warm_up(self) -> None:
        """Find out what scenes ask for most."""
        for thing in vars(manim).values():
            if isinstance(thing, type) and thing.__module__.startswith("manim."):
                self.refusal(thing, "scenepress", None)
                self.lacks(thing, "scenepress", is_loose=False)
                self.attributes(thing)
        _ = self.overridden

    @cached_property
    def overridden(self) -> set[type]:
        """Return the animations that some mobjects replace by others, with other arguments."""
        return {
            animation
            for kind in _family(manim.Mobject)
            for animation in getattr(kind, "animation_overrides", {})
        }

    @cache  # noqa: B019 (there is one for each process)
    def attributes(self, kind: type) -> frozenset[str]:
        """Return the attributes that objects of a class may have besides those of the class."""
        found = set(self.sources.foreign)
        for base in kind.__mro__:
            file = getattr(sys.modules.get(base.__module__), "__file__", None)
            found |= self.sources.assigned.get((str(file), base.__qualname__), set())
            found |= {*getattr(base, "__annotations__", {})}
        return frozenset(found)

    def lacks(self, kind: type, name: str, *, is_loose: bool) -> bool:
        """Whether objects of a class certainly lack an attribute; `is_loose`: also those of subclasses."""
        if name.startswith("__") or not all(_is_read(base) for base in kind.__mro__):
            return False
        kinds = _family(kind) if is_loose else [kind]
        return not any(self._may_have(one, name) for one in kinds)

    def is_of_subclass(self, kind: type, name: str) -> bool:
        """Whether a class, or one derived from it, defines an attribute."""
        return any(inspect.getattr_static(inner, name, None) is not None for inner in _family(kind))

    def _may_have(self, kind: type, name: str) -> bool:
        getter = inspect.getattr_static(kind, "__getattr__", None)
        if getter is not None and getter not in _KNOWN_GETTERS:
            return True
        own = inspect.getattr_static(kind, "__getattribute__", None)
        if own is not object.__getattribute__ and kind not in _PLAIN:
            return True
        if inspect.getattr_static(kind, name, None) is not None or name in dir(kind):
            return True
        return kind not in _PLAIN and name in self.attributes(kind)

    def refusal(self, called: object, keyword: str, receiver: type | None) -> str | None:
        """Return the name of the function that refuses a keyword argument; None: it may be accepted.

        `receiver`: the class of the object whose method is called.
        """
        key = (called, keyword, receiver)
        if key not in self._refusals:
            self._refusals[key] = self._refusal(called, keyword, receiver)
        return self._refusals[key]

    def _refusal(self, called: object, keyword: str, receiver: type | None) -> str | None:
        kind = called if isinstance(called, type) else receiver
        function: object = called
        if isinstance(called, type):
            function = _initializer(called)
            new = inspect.getattr_static(called, "__new__", None)
            new = new.__func__ if isinstance(new, staticmethod) else new
            if new is not None and new is not object.__new__:
                if not isinstance(new, types.FunctionType):
                    return None
                if _takes(new, keyword) or (self._passing(new) is None and not _has_kwargs(new)):
                    return None
        return self._refuser(function, keyword, kind, 0)

    def _refuser(self, function: object, keyword: str, kind: type | None, depth: int) -> str | None:
        if isinstance(function, staticmethod | classmethod):
            function = function.__func__
        if not isinstance(function, types.FunctionType) or depth > 20 or _takes(function, keyword):
            return None
        if not _has_kwargs(function):
            return function.__qualname__
        passing = self._passing(function)
        if passing is None or passing.is_unknown or keyword in passing.takes:
            return None
        if any(keyword in {one.arg for one in call.keywords} for call in passing.to):
            return None  # it is given twice
        refuser = None
        for call in passing.to:
            called = self._resolved(call.func, function, kind)
            if called is None:
                return None
            inner, owner = called
            if isinstance(inner, type):
                refuser = self.refusal(inner, keyword, None)
            else:
                refuser = self._refuser(inner, keyword, owner, depth + 1)
            if refuser is None:
                return None
        return refuser

    def collides(self, called: object, keyword: str) -> str | None:
        """Return the function that a class passes a keyword argument to twice, in Python's words."""
        function = _initializer(called) if isinstance(called, type) else None
        if not isinstance(function, types.FunctionType) or not isinstance(called, type):
            return None
        for _ in range(20):
            if _takes(function, keyword) or not _has_kwargs(function):
                return None
            passing = self._passing(function)
            if passing is None or passing.is_unknown or keyword in passing.takes or len(passing.to) != 1:
                return None
            resolved = self._resolved(passing.to[0].func, function, called)
            if resolved is None or not isinstance(resolved[0], types.FunctionType):
                return None
            if keyword in {one.arg for one in passing.to[0].keywords}:
                return f"{resolved[0].__module__}.{resolved[0].__qualname__}"
            function = resolved[0]
        return None

    def called_with(self, function: types.FunctionType) -> dict[str, int]:
        """Return how many arguments a function calls its parameters with."""
        code = function.__code__
        return self.sources.callbacks.get((code.co_filename, code.co_firstlineno), {})

    def note(self, function: types.FunctionType, node: ast.FunctionDef) -> None:
        """Note where a function of the author passes its ``**kwargs``."""
        if node.args.kwarg is not None:
            self._own[function] = passing_of(node, node.args.kwarg.arg)

    def _passing(self, function: types.FunctionType) -> Passing | None:
        if function in self._own:
            return self._own[function]
        code = function.__code__
        return self.sources.passing.get((code.co_filename, code.co_firstlineno))

    def _resolved(
        self, expression: ast.expr, function: types.FunctionType, kind: type | None
    ) -> tuple[object, type | None] | None:
        """Return what an expression in a function calls, and the class of its object."""
        match expression:
            case ast.Name(id=name):
                found = function.__globals__.get(name, getattr(builtins, name, None))
                known = isinstance(found, type | types.FunctionType)
                return (found, None) if known and name not in function.__code__.co_varnames else None
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name) if kind:
                owner = _defining(function, kind)
                if owner is None:
                    return None
                after = kind.__mro__[kind.__mro__.index(owner) + 1 :]
                found = next((vars(base)[name] for base in after if name in vars(base)), None)
                # That of `object` takes none.
                if found is object.__init__:
                    return _of_object, kind
                return (found, kind) if isinstance(found, types.FunctionType) else None
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if kind:
                found = inspect.getattr_static(kind, name, None)
                return (found, kind) if isinstance(found, types.FunctionType) else None
            case ast.Attribute(value=ast.Name(id=owner_name), attr="__init__"):
                owner = function.__globals__.get(owner_name)
                found = vars(owner).get("__init__") if isinstance(owner, type) else None
                return (found, kind) if isinstance(found, types.FunctionType) else None
        return None

    @cache  # noqa: B019
    def result(self, function: types.FunctionType) -> tuple[type | str, bool] | None:
        """Return the class of what a function returns, or `Self`; and whether it may be a subclass."""
        while isinstance(inner := getattr(function, "__wrapped__", None), types.FunctionType):
            function = inner
        annotation = function.__annotations__.get("return")
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            return None
        return self._class_of(annotation, function.__globals__, 0)

    def _class_of(
        self, annotation: object, names: dict[str, Any], depth: int
    ) -> tuple[type | str, bool] | None:
        if depth > 5:
            return None
        if isinstance(annotation, str):
            if annotation == "None":
                return type(None), False
            if not annotation.replace(".", "").isidentifier():
                return None
            if annotation in ("Self", "typing.Self"):
                return "Self", False
            first, *rest = annotation.split(".")
            found: object = names.get(first, getattr(builtins, first, None))
            if found is None:
                found = vars(manim).get(first, vars(manim.typing).get(first))
            for part in rest:
                found = getattr(found, part, None)
            return self._class_of(found, names, depth + 1)
        if annotation is typing.Self:
            return "Self", False
        if typing.get_origin(annotation) is np.ndarray:
            return np.ndarray, True
        if isinstance(annotation, type) and typing.get_origin(annotation) is None:
            if annotation is type(None) or annotation in (object, type, typing.Any):
                return None
            if annotation in (int, bool):  # often a number of NumPy
                return float, True
            if getattr(annotation, "_is_protocol", False):
                return None
            return annotation, True
        return None


def _of_object(self: object) -> None:
    """Stand for the initializer of `object`."""


_of_object.__qualname__ = "object.__init__"

_KNOWN_GETTERS = (
    inspect.getattr_static(manim.Mobject, "__getattr__"),
    inspect.getattr_static(_AnimationBuilder, "__getattr__"),
)
_PLAIN = (float, int, str, bool, list, tuple, dict, set, type(None), np.ndarray, range, bytes, complex)


def _files_of(package: str) -> Iterator[Path]:
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == package and file and file.endswith(".py") and "opengl" not in name:
            yield Path(file)


def _family(kind: type) -> Iterator[type]:
    yield kind
    for inner in subclasses_of(kind):
        yield from _family(inner)


_READ = ("builtins", "abc", "collections", "manim", "scene", "typing")


def _is_read(kind: type) -> bool:
    """Whether the attributes of the objects of a class are known: there are none, or its source was read."""
    return kind in _PLAIN or kind.__module__.partition(".")[0] in _READ


def subclasses_of(kind: type) -> list[type]:
    """Return the classes that are derived directly from a class."""
    return [] if kind is type else type.__subclasses__(kind)


def _initializer(kind: type) -> object:
    return inspect.getattr_static(kind, "__init__", None)


def _takes(function: types.FunctionType, keyword: str) -> bool:
    code = function.__code__
    names = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    return keyword in names


def _has_kwargs(function: types.FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)


def _defining(function: Callable[..., Any], kind: type) -> type | None:
    return next((base for base in kind.__mro__ if function in vars(base).values()), None)


INSTALLED = Installed()
