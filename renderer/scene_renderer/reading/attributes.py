"""Attributes of values."""

import ast
import enum
import importlib.machinery
import inspect
import sys
import types
from functools import cached_property

import manim
from manim import Mobject

from . import own
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
    is_mobject,
)

_CHANGING = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
    ]
)


def attribute(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    """Return an attribute of a value; report one that is not there."""
    name = node.attr
    if not is_known(owner) or isinstance(owner, Accessor):
        return UNKNOWN
    if isinstance(owner, Method | Function):
        return _of_function(reading, owner, node)
    if isinstance(owner, Builder):
        return _of_builder(reading, owner, node)
    if owner.is_it and not isinstance(owner, Sequence | Dictionary):
        return _of_object(reading, owner, node)
    if isinstance(owner, Sequence | Dictionary) and name in _CHANGING:
        owner.change()
    return _of_instance(reading, owner, node)


def _is_free(reading: Reading, name: str) -> bool:
    return reading.is_attributes_wild or name in reading.free


def _missing(reading: Reading, owner: Value, node: ast.Attribute, message: str) -> Value:
    reading.error(AttributeError(message, name=node.attr, obj=owner.thing), node)
    return UNKNOWN


def _of_function(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    thing, name = owner.thing, node.attr
    if _is_free(reading, name) or name.startswith("__") or not isinstance(thing, types.FunctionType):
        return UNKNOWN
    if hasattr(thing, name):
        return UNKNOWN
    kind = "method" if isinstance(owner, Method) and owner.owner is not None else "function"
    return _missing(reading, owner, node, f"'{kind}' object has no attribute '{name}'")


def _of_builder(reading: Reading, owner: Builder, node: ast.Attribute) -> Value:
    name = node.attr
    if name in ("mobject", "methods", "build", "anim_args", "is_chaining") or name.startswith("__"):
        return UNKNOWN
    mobject = Value(owner.thing, is_loose=owner.is_loose)
    found = _of_instance(reading, mobject, node)
    if isinstance(found, Method):
        return Method(found.thing, owner=Builder(owner.thing, is_loose=owner.is_loose), name=name)
    if isinstance(found, Accessor):
        return Accessor(owner.thing, is_loose=owner.is_loose, name=name, is_animated=True)
    return UNKNOWN


def _of_object(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    thing, name = owner.thing, node.attr
    if isinstance(thing, types.ModuleType):
        return _of_module(reading, owner, node)
    if isinstance(thing, type):
        return _of_class(reading, owner, node)
    if isinstance(thing, types.FunctionType):
        return _of_function(reading, owner, node)
    if type(thing).__module__ == own.MODULE or _is_free(reading, name) or name.startswith("__"):
        return UNKNOWN
    if thing is None:
        return _missing(reading, owner, node, f"'NoneType' object has no attribute '{name}'")
    if not hasattr(thing, name):
        if type(thing).__module__.partition(".")[0] in ("builtins", "manim", "numpy"):
            return _missing(
                reading, owner, node, f"'{type(thing).__name__}' object has no attribute '{name}'"
            )
        return UNKNOWN
    static = inspect.getattr_static(type(thing), name, None)
    if isinstance(static, types.FunctionType | types.MethodDescriptorType):
        return Method(static, owner=owner, name=name)
    found = getattr(thing, name)
    if isinstance(found, types.BuiltinMethodType):
        return Method(found, owner=None, name=name, is_it=isinstance(thing, str))
    return exactly(found) if isinstance(found, int | float | str | bool | types.ModuleType) else UNKNOWN


def _of_module(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    module, name = owner.thing, node.attr
    if name in vars(module):
        return exactly(vars(module)[name])
    if _is_free(reading, name) or name.startswith("__"):
        return UNKNOWN
    try:
        found = getattr(module, name)
    except AttributeError as error:
        if is_module(f"{module.__name__}.{name}"):
            return UNKNOWN
        reading.error(AttributeError(str(error), name=name, obj=module), node)
        return UNKNOWN
    except Exception:  # of its own __getattr__
        return UNKNOWN
    return exactly(found)


def is_module(name: str) -> bool:
    """Whether a module can be imported, as far as that can be told without importing its parents."""
    if name in sys.modules:
        return True
    parent, _, last = name.rpartition(".")
    if parent:
        if parent not in sys.modules:
            return is_module(parent)
        path = getattr(sys.modules[parent], "__path__", None)
        if path is None:
            return False
        return importlib.machinery.PathFinder.find_spec(name, path) is not None
    finders = (importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter)
    if any(finder.find_spec(last) is not None for finder in finders):
        return True
    return importlib.machinery.PathFinder.find_spec(last) is not None


def _of_class(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    kind, name = owner.thing, node.attr
    found = inspect.getattr_static(kind, name, None)
    if isinstance(found, staticmethod):
        return _of_function_of_class(reading, found.__func__)
    if isinstance(found, classmethod):
        return Method(found.__func__, owner=owner, name=name)
    if isinstance(found, types.FunctionType):
        return Method(found, owner=None, name=name)
    if found is not None or hasattr(kind, name) or name in dir(kind):
        return (
            exactly(found)
            if isinstance(found, int | float | str) and kind not in reading.classes
            else UNKNOWN
        )
    if _is_free(reading, name) or name.startswith("_") or issubclass(kind, enum.Enum):
        return UNKNOWN
    if inspect.getattr_static(type(kind), "__getattr__", None) is not None:
        return UNKNOWN
    if "__slots__" in vars(kind) or (kind in reading.classes and reading.classes[kind].decorator_list):
        return UNKNOWN
    return _missing(reading, owner, node, f"type object '{kind.__name__}' has no attribute '{name}'")


def _of_function_of_class(reading: Reading, function: object) -> Value:
    if isinstance(function, types.FunctionType) and function in reading.functions:
        return reading.functions[function]
    return exactly(function)


def _of_instance(reading: Reading, owner: Value, node: ast.Attribute) -> Value:
    kind, name = owner.kind, node.attr
    if name == "animate" and is_mobject(owner):
        return Builder(owner.thing, is_loose=owner.is_loose)
    found = inspect.getattr_static(kind, name, None)
    if name in reading.free or reading.is_attributes_wild:
        is_own = found is None or found is own.OPAQUE
        if reading.has_read_all and is_own and name in reading.assigned and kind in reading.classes:
            return reading.assigned[name]
        if found is None or found is own.OPAQUE:
            return UNKNOWN
    if isinstance(found, types.FunctionType):
        if owner.is_loose and any(
            name in vars(inner) for inner in subclasses_of(kind) if inner in reading.classes
        ):
            return UNKNOWN
        return Method(found, owner=owner, name=name)
    if isinstance(found, classmethod | staticmethod):
        bound = exactly(kind) if isinstance(found, classmethod) else None
        return Method(found.__func__, owner=bound, name=name)
    if name == "camera" and isinstance(owner.thing, manim.Scene) and isinstance(found, property):
        return _camera(reading, owner)
    if isinstance(found, property | cached_property):
        getter = found.fget if isinstance(found, property) else found.func
        return result_of(getter, owner) if isinstance(getter, types.FunctionType) else UNKNOWN
    if isinstance(found, types.MethodDescriptorType | types.WrapperDescriptorType):
        return Method(found, owner=owner, name=name)
    if found is not None or kind.__dict__.get(name) is not None:
        return UNKNOWN
    if is_mobject(owner) and name.startswith(("get_", "set_")):
        if owner.is_loose and INSTALLED.is_of_subclass(kind, name):
            return UNKNOWN
        return Accessor(owner.thing, is_loose=owner.is_loose, name=name)
    if kind in reading.classes and "__getattr__" in dir(kind) and not isinstance(owner.thing, Mobject):
        return UNKNOWN
    if not INSTALLED.lacks(kind, name, is_loose=owner.is_loose):
        return UNKNOWN
    said = "" if isinstance(owner.thing, Mobject) else "'"
    return _missing(reading, owner, node, f"{said}{kind.__name__}{said} object has no attribute '{name}'")


def _camera(reading: Reading, owner: Value) -> Value:
    """Return the camera of a scene: an instance of what its initializer names."""
    initializer = inspect.getattr_static(owner.kind, "__init__", None)
    if "camera_class" in reading.report.code or not isinstance(initializer, types.FunctionType):
        return UNKNOWN
    if initializer in reading.functions:
        initializers = (vars(base).get("__init__") for base in owner.kind.__mro__[1:])
        plain = (one for one in initializers if one is not None and one not in reading.functions)
        initializer = next(plain, None)
    if not isinstance(initializer, types.FunctionType):
        return UNKNOWN
    parameter = inspect.signature(initializer).parameters.get("camera_class")
    kind = None if parameter is None else parameter.default
    return instance(kind) if isinstance(kind, type) else UNKNOWN


def result_of(function: types.FunctionType, owner: Value | None) -> Value:
    """Return what a function of Manim returns, by its annotation."""
    found = INSTALLED.result(function)
    if found is None:
        return UNKNOWN
    kind, is_loose = found
    if kind == "Self":
        if owner is None or isinstance(owner.thing, type):
            return UNKNOWN
        return Value(owner.thing, is_loose=owner.is_loose)
    assert isinstance(kind, type)
    if issubclass(kind, manim.Scene | type) or inspect.isabstract(kind):
        return UNKNOWN
    return instance(kind, is_loose=is_loose)
