"""Paths of SVG files have the same points as with svgelements and Manim alone."""

import random
from collections.abc import Iterator
from copy import copy
from pathlib import Path as FilePath

import pytest
from manim import SVGMobject, Text
from manim.mobject.svg.svg_mobject import SVG_HASH_TO_MOB_MAP, VMobjectFromSVGPath
from svgelements import Matrix, Path

from scene_renderer.faster import svg_paths
from scene_renderer.tex import sample

_MANIMS = {
    (Path, "parse"): Path.parse,
    (Path, "reify"): Path.reify,
    (Path, "approximate_arcs_with_quads"): Path.approximate_arcs_with_quads,
    (VMobjectFromSVGPath, "handle_commands"): VMobjectFromSVGPath.handle_commands,
}


@pytest.fixture
def replaced(tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    svg_paths.place_directly()
    yield
    for (owner, name), function in _MANIMS.items():
        setattr(owner, name, function)
    del Path._segments


def _random_path(chance: random.Random) -> str:
    """Return path data of all commands, absolute and relative, with and without closing lines."""

    def numbers(count: int) -> str:
        return " ".join(chance.choice([f"{chance.uniform(-9, 9):.6f}", "0", "-.5"]) for _ in range(count))

    commands = {"L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "Z": 0, "M": 2, "A": 0}
    parts = [f"M{numbers(2)}"]
    for _ in range(chance.randint(0, 12)):
        name = chance.choice(list(commands))
        if name == "A" and chance.random() < 0.8:
            continue
        values = "2 1 30 0 1 " + numbers(2) if name == "A" else numbers(commands[name])
        parts.append(f"{name.lower() if chance.random() < 0.4 else name}{values}")
    return "".join(parts)


def _placed(data: str, transform: str) -> Path:
    path = Path(data, transform=transform)
    path.reify()
    return path


def _points(data: str, transform: str) -> bytes:
    return VMobjectFromSVGPath(_placed(data, transform)).points.tobytes()


TRANSFORMS = ["", "translate(137.978811, -22.825522)", "scale(2, -1.1) rotate(30)", "matrix(.1 .2 .3 .4 5 6)"]


@pytest.mark.parametrize("seed", range(40))
def test_random_paths_have_the_same_points(seed: int, request: pytest.FixtureRequest) -> None:
    """At any place, and when an outline is used again."""
    chance = random.Random(seed)
    paths = [(_random_path(chance), chance.choice(TRANSFORMS)) for _ in range(25)]
    expected = [_points(*path) for path in paths]
    segments = [[repr(segment) for segment in _placed(*path)] for path in paths]
    request.getfixturevalue("replaced")
    for _ in range(2):
        assert [_points(*path) for path in paths] == expected
        assert [[repr(segment) for segment in _placed(*path)] for path in paths] == segments


def test_characters_have_the_same_points(request: pytest.FixtureRequest) -> None:
    """All that TeX sets often, at several places."""
    result = sample.Conversion().result()
    assert result is not None
    data = [
        line.split(" d='")[1].split("'")[0] for line in result.svg.splitlines() if line.startswith("<path")
    ]
    assert len(data) > 1000
    expected = [_points(path, f"translate({number}.5, .1)") for number, path in enumerate(data)]
    request.getfixturevalue("replaced")
    assert [_points(path, f"translate({number}.5, .1)") for number, path in enumerate(data)] == expected


@pytest.mark.usefixtures("replaced")
def test_paths_are_ordinary_ones_for_other_code() -> None:
    """Copies, changes and a second transformation."""
    path = _placed("M0 0L1 0L1 1Z", "translate(2, 3)")
    assert path.d() == "M 2,3 L 3,3 L 3,4 Z"
    assert copy(_placed("M0 0L1 0", "translate(2, 3)")).d() == "M 2,3 L 3,3"
    assert len(_placed("M0 0L1 0L1 1Z", "")) == 4
    twice = _placed("M0 0L1 0", "translate(2, 3)")
    twice.transform = Matrix("scale(2)")
    twice.reify()
    assert twice.d() == "M 4,6 L 6,6"
    longer = _placed("M0 0L1 0", "translate(2, 3)")
    longer.line((9, 9))
    assert longer.d() == "M 2,3 L 3,3 L 9,9"
    added = Path("M0 0L1 0")
    added.parse("L5 5")
    assert added.d() == "M 0,0 L 1,0 L 5,5"


def test_paths_from_before_stay_as_they_are(request: pytest.FixtureRequest) -> None:
    """Manim makes those of its banner when it is imported."""
    path = _placed("M0 0L1 0L1 1Z", "translate(2, 3)")
    expected = VMobjectFromSVGPath(copy(path)).points.tobytes()
    request.getfixturevalue("replaced")
    assert VMobjectFromSVGPath(path).points.tobytes() == expected
    assert path.d() == "M 2,3 L 3,3 L 3,4 Z"


SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">
<defs><path id="a" d="M0 0L4 0L4 4Z"/></defs>
<g transform="translate(3 4)" fill="#fc6255"><use href="#a" x="1" y="2"/><use href="#a" x="9" y="2"/>
<path d="M10 10C20 20 40 20 50 10Z" stroke="white" stroke-width="2"/>
<path d="M1 1A3 3 0 0 1 5 5Z"/></g></svg>"""


def test_files_and_text_are_the_same(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """With Manim's cache of SVG files emptied in between."""
    monkeypatch.chdir(tmp_path)
    FilePath("a.svg").write_text(SVG)

    def found() -> list[bytes]:
        SVG_HASH_TO_MOB_MAP.clear()
        mobjects = [SVGMobject("a.svg"), Text("Hello, wörld fi", slant="ITALIC"), Text("again Hello")]
        return [member.points.tobytes() for mobject in mobjects for member in mobject.get_family()]

    expected = found()
    request.getfixturevalue("replaced")
    assert found() == expected
