"""Replaces functions and classes of Manim and its dependencies, for scenes and for Manim itself.

A part that is missing, such as a method that another version of Manim has renamed, is an error: its
replacement would never be called.
"""

from types import FunctionType, ModuleType


def replace(owner: type | ModuleType, /, **parts: object) -> None:
    """Replace what a module, or a class or one of its bases, defines. Error: `RuntimeError`.

    A function gets the names of the one that it replaces: scenes show them, and errors contain them.
    """
    for name in parts:
        if not _defines(owner, name):
            raise RuntimeError(f"{_named(owner)} has no {name} to replace. {_remedy(owner)}")
    for name, part in parts.items():
        _name_like(getattr(owner, name), part)
    _set(owner, parts)


def add(owner: type, /, **parts: object) -> None:
    """Add what neither a class nor one of its bases, except `object`, defines. Error: `RuntimeError`."""
    for name in parts:
        if _defines(owner, name):
            raise RuntimeError(f"{_named(owner)} has a {name} already. {_remedy(owner)}")
    _set(owner, parts)


def _defines(owner: type | ModuleType, name: str) -> bool:
    places = (owner,) if isinstance(owner, ModuleType) else owner.__mro__[:-1]
    return any(name in vars(place) for place in places)


def _set(owner: type | ModuleType, parts: dict[str, object]) -> None:
    for name, part in parts.items():
        setattr(owner, name, part)


def _name_like(replaced: object, part: object) -> None:
    if not isinstance(replaced, FunctionType) or not isinstance(part, FunctionType):
        return
    part.__name__, part.__qualname__ = replaced.__name__, replaced.__qualname__
    part.__module__, part.__doc__ = replaced.__module__, replaced.__doc__


def _named(owner: type | ModuleType) -> str:
    return owner.__name__ if isinstance(owner, ModuleType) else f"{owner.__module__}.{owner.__qualname__}"


def _remedy(owner: type | ModuleType) -> str:
    package = _named(owner).partition(".")[0]
    return f"Run the set-up again, or install the {package} of renderer/requirements.lock"
