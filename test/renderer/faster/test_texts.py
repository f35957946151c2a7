"""Texts are the same mobjects as those that Manim makes with svgelements."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import manim
import numpy as np
import pytest
from manim import BLUE, BOLD, ITALIC, RED, MarkupText, Paragraph, SVGMobject, Text, VMobject, config
from manim.mobject.svg.svg_mobject import SVG_HASH_TO_MOB_MAP, VMobjectFromSVGPath
from svgelements import Path as SvgPath

from descriptions import described
from scene_renderer.faster import svg, svg_paths, svg_texts, texts


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "media_dir", "media")


@pytest.fixture
def in_both_ways(replaced: Any) -> Any:
    """Call a function with Manim's methods and then twice with the replaced ones."""

    def call(function: Any) -> tuple[Any, Any]:
        def result() -> Any:
            SVG_HASH_TO_MOB_MAP.clear()
            try:
                return described(function(), {})
            except (AssertionError, IndexError, TypeError, ValueError) as error:
                return f"{type(error).__name__}: {error}"

        expected = result()
        with replaced():
            return [expected] * 2, [result(), result()]

    return call


@pytest.fixture
def replaced() -> Any:
    """Return a context in which all is replaced."""

    @contextmanager
    def context() -> Iterator[None]:
        places = [(SvgPath, name) for name in ("parse", "reify", "approximate_arcs_with_quads")]
        places += [(VMobjectFromSVGPath, "handle_commands"), (SVGMobject, "generate_mobject")]
        places += [(Text, "__init__"), (MarkupText, "__init__")]
        manims = {place: place[0].__dict__[place[1]] for place in places}
        svg_paths.place_directly()
        svg.read_without_writing()
        texts.close_directly()
        yield
        for (owner, name), function in manims.items():
            setattr(owner, name, function)
        del SvgPath._segments, manim.SingleStringMathTex.init_svg_mobject

    return context


_MADE: list[tuple[Any, tuple[str, ...], dict[str, Any]]] = [
    (Text, ("Balance: 1234.50 EUR",), {"font_size": 36}),
    (Text, ("two lines\n and\ta tab  ",), {"t2c": {"lines": RED}, "t2s": {"a": ITALIC}, "line_spacing": 2}),
    (Text, ("waffle fi",), {"weight": BOLD, "fill_opacity": 0.4, "stroke_width": 1, "height": 2}),
    (Text, ("waffle fi",), {"disable_ligatures": True, "gradient": (RED, BLUE)}),
    (Text, ("数学 Ελλ 한",), {"should_center": False, "color": BLUE}),
    (Text, ("العربية עברית हिन्दी",), {}),
    (Text, ("😀 a",), {}),
    (Text, (" ",), {}),
    (Text, ("",), {}),
    (Text, ("a<b & c",), {"font_size": 0.7, "width": 1, "use_svg_cache": True}),
    (MarkupText, ('<b>bo</b> x <span foreground="#ff8800">hue</span>',), {"justify": True}),
    (MarkupText, ("under <u>lined</u>",), {}),
    (MarkupText, ('<gradient from="RED" to="YELLOW">many</gradient> <sub>s</sub>',), {}),
    (MarkupText, ("<b>open",), {}),
    (Paragraph, ("one", "two  three", "", "four"), {"alignment": "center", "line_spacing": 1}),
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "words", "settings"), _MADE)
def test_texts_are_the_same(kind: Any, words: Any, settings: Any, in_both_ways: Any) -> None:
    """With all their attributes and groups; also the second time."""
    expected, found = in_both_ways(lambda: kind(*words, **settings))
    assert found == expected


@pytest.mark.deep
def test_code_is_the_same(in_both_ways: Any) -> None:
    expected, found = in_both_ways(
        lambda: manim.Code(code_string="def f(x):\n\treturn x != 1", language="python")
    )
    assert found == expected


def test_texts_are_made_without_svgelements(replaced: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except the first characters of a style."""
    with replaced():
        Text("a")
        monkeypatch.setattr(svg, "_parse", lambda *_: pytest.fail("it was parsed"))
        Text("Other words,\nin two lines")
        monkeypatch.setattr(texts, "_are_closed", lambda *_: pytest.fail("it has another function"))
        Text("b")


def test_texts_share_nothing(in_both_ways: Any) -> None:
    """A change of one doesn't change another."""

    def unchanged() -> Text:
        changed = Text("ab a")
        changed.set_color(RED).shift(manim.UP).set_stroke(BLUE, 3)
        for character in changed:
            path: Any = character.path_obj
            path.values["attributes"]["d"] = path.values["fill"] = "other"
            path.fill.value = 0
        for group in changed.id_to_vgroup_dict.values():
            group.set_color(BLUE).add(manim.Dot())
        return Text("ab a")

    expected, found = in_both_ways(unchanged)
    assert found == expected


def test_texts_of_a_scene_own_kind_are_the_same(in_both_ways: Any) -> None:
    """Their methods are called."""

    class Wide(Text):
        def path_to_mobject(self, path: Any) -> VMobjectFromSVGPath:
            return super().path_to_mobject(path).stretch(3, 0)

    class Half(Text):
        def __iter__(self) -> Iterator[VMobject]:
            return iter(self.submobjects[:1])

    class Flat(Text):
        @property
        def n_points_per_curve(self) -> int:
            return 4 if "points" in vars(self) and len(self.submobjects) < 2 else 3

    for kind in (Wide, Half, Flat):
        expected, found = in_both_ways(lambda kind=kind: kind("ab"))
        assert found == expected


def test_defaults_of_a_scene_apply(in_both_ways: Any) -> None:
    def with_defaults() -> Text:
        Text("a")
        try:
            VMobject.set_default(fill_opacity=0.25, sheen_factor=0.5)
            return Text("a")
        finally:
            VMobject.set_default()

    expected, found = in_both_ways(with_defaults)
    assert found == expected


_GLYPHS = {
    "1.16": '<symbol overflow="visible" id="{}">\n<path style="stroke:none;" d="{}"/>\n</symbol>\n',
    "1.18": '<g id="{}">\n<path d="{}"/>\n</g>\n',
}
_OUTLINES = {
    "glyph-0-0": "M 0 0 L 2 0 L 2 1.5 C 1 4 3 3 2 2 L 0 0 Z M 1 0 L 1.5 0 L 1 1 Z ",
    "glyph-0-1": "M 0.125 0 L 0.12501 3 L 0.12495 0 Z ",
    "glyph-0-2": "",
}
_USE = '<use xlink:href="#glyph-0-{}" x="{}" y="{}"/>\n'
_RUN = {
    "1.16": '<g style="fill:rgb(100%,50%,0%);fill-opacity:0.5;">\n  {}</g>\n',
    "1.18": '<g fill="rgb(100%, 50%, 0%)" fill-opacity="0.5">\n{}</g>\n',
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("version", ["1.16", "1.18"])
@pytest.mark.parametrize(
    ("body", "is_read"),
    [
        ([(0, "30", "30.5"), (2, "31", "2"), (0, "-3.25", "30.5"), (1, "30", "30")], True),
        ([(0, "0", "0"), (1, "0", "5"), (0, "3", "0")], True),
        ([(7, "0", "0")], False),
        ([(0, "1e3", "0")], False),
        ([], False),
        ('<g transform="scale(2)">\n{}</g>\n', False),
        ('<rect x="1" y="1" width="3" height="2"/>\n', False),
    ],
)
def test_files_of_cairo_are_read_as_before(
    version: str, body: Any, is_read: bool, in_both_ways: Any, tmp_path: Path
) -> None:
    """By several versions, and with what is none of a text."""
    runs = (
        _RUN[version].format("".join(_USE.format(*use) for use in body))
        if isinstance(body, list)
        else body.format(_USE.format(0, 1, 2))
    )
    glyphs = "".join(_GLYPHS[version].format(*glyph).replace("-0-", "0-") for glyph in _OUTLINES.items())
    if version == "1.16":
        runs = f'<g id="surface3">\n{runs * 2}</g>\n'.replace("-0-", "0-")
    else:
        glyphs = glyphs.replace("glyph0", "glyph-0").replace('<path d=""/>\n', "")
    document = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" '
        'xmlns:xlink="http://www.w3.org/1999/xlink" width="600pt" height="400pt" viewBox="0 0 600 400">\n'
        f"<defs>\n<g>\n{glyphs}</g>\n</defs>\n{runs}</svg>\n"
    )
    file = tmp_path / "text.svg"
    file.write_text(document)
    assert (svg_texts._text_of(document) is not None) == is_read
    expected, found = in_both_ways(lambda: SVGMobject(file, use_svg_cache=False))
    assert found == expected


@pytest.mark.parametrize("seed", range(5))
def test_outlines_are_closed_as_before(seed: int, in_both_ways: Any) -> None:
    """Also those whose parts end anywhere, or not at all."""
    chance = np.random.default_rng(seed)

    class Drawn(Text):
        def generate_mobject(self) -> Any:
            for _ in range(4):
                shape = VMobject()
                shape.points = chance.integers(0, 2, (4 * int(chance.integers(0, 9)), 3)).astype(float)
                shape.points += chance.choice([0.0, 0.1, np.nan, np.inf], (1, 3), p=[0.5, 0.4, 0.05, 0.05])
                self.add(shape)
            return self

    def made() -> Any:
        nonlocal chance
        chance = np.random.default_rng(seed)
        return Drawn("a")

    with np.errstate(all="ignore"):
        expected, found = in_both_ways(made)
    assert found == expected
