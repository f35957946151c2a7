"""The tables of names of earlier versions, compared with the installed Manim."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import manim
import pytest
from manim import Mobject, Scene

from scene_renderer.advice import renamed, signatures

_CLASSES = {
    part.__name__: part
    for name, module in [*sys.modules.items()]
    if name.startswith("manim.") and "opengl" not in name
    for part in vars(module).values()
    if isinstance(part, type) and part.__module__.startswith("manim.")
} | {"list": list, "Scene": Scene}
_MADE: dict[str, Callable[[], list[Any]]] = {
    "Title": lambda: [manim.Title("a")],
    "Code": lambda: [manim.Code(code_string="x = 1")],
    "Mobject": lambda: [Mobject(), manim.Text("a"), manim.MathTex("x")],
    "Graph": lambda: [manim.Graph([1], [])],
}


def _names_of(kind: type) -> set[str]:
    return {name for base in kind.__mro__ for name in vars(base) if base is not object}


def _family(kind: type[Any]) -> Iterable[type[Any]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _family(inner)


def test_no_old_name_exists_and_every_new_one_does() -> None:
    assert [name for name in renamed.NAMES if name in vars(manim)] == []
    news = {new.name for new in renamed.NAMES.values() if new.name is not None}
    assert [name for name in news if not _exists(name)] == []


def _exists(name: str) -> bool:
    """Whether `from manim import *` makes an expression such as `config.top` valid."""
    first, *attributes = name.split(".")
    owner = vars(manim).get(first)
    for attribute in attributes:
        owner = getattr(owner, attribute, None)
    return owner is not None


@pytest.mark.parametrize("owner", renamed.ATTRIBUTES)
def test_no_old_attribute_exists_and_every_new_one_does(owner: str) -> None:
    kind = _CLASSES[owner]
    table = renamed.ATTRIBUTES[owner]
    own = _names_of(kind)
    assert [name for name in table if name in own] == []
    made = [name for one in _MADE.get(owner, list)() for name in vars(one)]
    known = {*own, *made, *(name for inner in _family(kind) for name in vars(inner)), "frame"}
    assert [new.name for new in table.values() if new.name is not None and new.name not in known] == []


def test_every_new_keyword_is_accepted_somewhere() -> None:
    accepted = {name for kind in _CLASSES.values() for name in signatures.keywords_of(kind)}
    methods = [part for kind in _CLASSES.values() for part in vars(kind).values() if callable(part)]
    accepted |= {name for method in methods for name in signatures.keywords_of(method)}
    for names in renamed.KEYWORDS.values():
        assert [new.name for new in names.values() if new.name is not None and new.name not in accepted] == []


def test_a_new_name_is_an_identifier_and_advice_is_a_sentence() -> None:
    tables = [renamed.NAMES, *renamed.ATTRIBUTES.values(), *renamed.KEYWORDS.values()]
    for old, new in (row for table in tables for row in table.items()):
        assert new.name is None or new.name.replace(".", "").isidentifier(), old
        assert new.advice is None or new.advice.endswith("."), old
        assert new.name is not None or new.advice is not None, old
