"""Copies of mobjects equal those that Manim makes, in their values and in what they share."""

import copy
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import manim
import numpy as np
import pytest
from manim import Mobject, VMobject

import scenepress_native
from scene_renderer.faster import copies

_MANIMS_OWN = Mobject.__deepcopy__
_ATOMS = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type,
    type(None),
    np.generic,
    FunctionType,
    BuiltinFunctionType,
)


def _with_updaters() -> Mobject:
    square: Any = manim.Square().add_updater(lambda mobject, dt: mobject.shift(dt * manim.UP))
    square.follower = manim.Dot().add_updater(lambda dot: dot.move_to(square))
    square.history = [square.points, {"again": square.points, "owner": square}]
    return manim.VGroup(square, square.follower)


def _with_odd_attributes() -> Any:
    mobject: Any = manim.Circle()
    mobject.odd = [
        np.array([{"a": 1}], dtype=object),
        {1, 2},
        (manim.RED, [manim.BLUE]),
        np.float64(2),
        range(3),
    ]
    mobject.itself = mobject
    mobject.shades = {manim.RED: manim.RED}
    return mobject


def _with_state() -> Mobject:
    square = manim.Square().save_state()
    square.generate_target()
    return square.set_color_by_gradient(manim.RED, manim.BLUE)


class _Counted(VMobject):
    """A mobject whose class has its own copy of an attribute."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value + 1 if name == "count" else value)


def _with_own_setter() -> Mobject:
    counted = _Counted()
    counted.count = 1
    return counted


class _Copying(VMobject):
    """A mobject whose class copies in a way of its own."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        result: Any = type(self)()
        memo[id(self)] = result
        result.copied_from = [self.color]
        return result


def _with_own_copies() -> Mobject:
    square: Any = manim.Square()
    square.__deepcopy__ = lambda memo: manim.Circle()
    return manim.VGroup(_Copying(), square, manim.Dot())


MOBJECTS: dict[str, Callable[[], Mobject]] = {
    "Text": lambda: manim.Text("Hello, world"),
    "Paragraph": lambda: manim.Paragraph("one", "two"),
    "MathTex": lambda: manim.MathTex("x^2", "+", r"\frac{1}{y}"),
    "DecimalNumber": lambda: manim.DecimalNumber(3.14),
    "Code": lambda: manim.Code(code_string="def f(x):\n    return x\n", language="python"),
    "Axes": lambda: manim.Axes().add_coordinates(),
    "NumberPlane": manim.NumberPlane,
    "Graph": lambda: manim.Graph([1, 2, 3], [(1, 2), (2, 3)], labels=True),
    "Table": lambda: manim.Table([["a", "b"], ["c", "d"]]),
    "BarChart": lambda: manim.BarChart([1, 2, 3]),
    "Brace": lambda: manim.Brace(manim.Square()),
    "Arrow": manim.Arrow,
    "Sphere": lambda: manim.Sphere(resolution=(4, 4)),
    "Surface": lambda: manim.Surface(lambda u, v: np.array([u, v, u * v]), resolution=3),
    "ValueTracker": lambda: manim.ValueTracker(2),
    "Dots": lambda: manim.VGroup(*[manim.Dot(manim.RIGHT * n) for n in range(5)]),
    "ImageMobject": lambda: manim.ImageMobject(np.zeros((4, 4, 3), dtype=np.uint8)),
    "DashedLine": manim.DashedLine,
    "Union": lambda: manim.Union(manim.Square(), manim.Circle()),
    "ArrowVectorField": lambda: manim.ArrowVectorField(lambda p: p, x_range=[-1, 1], y_range=[-1, 1]),
    "updaters": _with_updaters,
    "odd attributes": _with_odd_attributes,
    "saved state": _with_state,
    "own setter": _with_own_setter,
    "own copies": _with_own_copies,
}


@pytest.fixture(autouse=True)
def _media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep Manim's files of texts and formulas."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", MOBJECTS)
@pytest.mark.sampled(2)
def test_a_copy_is_equal_to_manims(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value, and which of them are shared, are as in a copy made by Manim."""
    mobject = MOBJECTS[name]()
    monkeypatch.setattr(Mobject, "__deepcopy__", _MANIMS_OWN)
    expected = _described(copy.deepcopy(mobject), mobject)
    copies.copy_directly()
    assert _described(copy.deepcopy(mobject), mobject) == expected


def test_paths_of_letters_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """All copies have the path that the points were made of."""
    monkeypatch.setattr(Mobject, "__deepcopy__", _MANIMS_OWN)
    copies.copy_directly()
    letter = manim.Text("a")[0]
    copied = letter.copy()
    assert isinstance(copied, VMobject)
    assert copied.path_obj is letter.path_obj
    assert copied.points is not letter.points


def test_a_copy_that_is_too_deep_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Mobject, "__deepcopy__", _MANIMS_OWN)
    copies.copy_directly()
    mobject: Any = manim.Square()
    mobject.nested = []
    for _ in range(100_000):
        mobject.nested = [mobject.nested]
    with pytest.raises(RecursionError):
        mobject.copy()


def test_what_is_no_mobject_is_refused() -> None:
    native: Any = scenepress_native.copy_mobject
    refused: list[tuple[Any, ...]] = [(), (1, {}), (manim.Square(), None), (manim.Square(),)]
    for arguments in refused:
        with pytest.raises(TypeError):
            native(*arguments)


def _described(copied: Any, original: Any) -> list[object]:
    """List the objects of a copy: type, place in the original if it is shared, value, and items by place."""
    originals = {id(value): place for place, value in enumerate(_objects(original))}
    places = {}
    described: list[object] = []
    for place, value in enumerate(objects := _objects(copied)):
        places[id(value)] = place
        described.append((type(value), originals.get(id(value)), _value(value)))
        described += [places.get(id(item), "later") for item in _items(value)]
    assert len(places) == len(objects)
    return described


def _objects(root: Any) -> list[Any]:
    """Return all objects reachable from one, except the paths of letters, each once."""
    found = {id(root): root}
    waiting = [root]
    while waiting:
        for item in _items(waiting.pop()):
            if id(item) not in found and not isinstance(item, _ATOMS):
                found[id(item)] = item
                waiting.append(item)
    return list(found.values())


def _items(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, MethodType):
        return [value.__self__]
    attributes = getattr(value, "__dict__", {})
    return [item for name, item in attributes.items() if name != "path_obj"]


def _value(value: Any) -> object:
    if isinstance(value, np.ndarray):
        return (value.dtype, value.shape, value.flags["F_CONTIGUOUS"], repr(value.tolist()))
    if isinstance(value, Mobject):
        return {name: _text(item) for name, item in value.__dict__.items()}
    if isinstance(value, (list, tuple, dict)):
        return [_text(item) for item in _items(value)]
    return _text(value)


def _text(value: Any) -> object:
    return repr(value) if isinstance(value, (*_ATOMS, set, range)) else type(value)
