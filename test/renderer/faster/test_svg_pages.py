"""Pages of TeX become the same mobjects as with svgelements and Manim."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import manim
import pytest
from manim import BLUE, RED, MathTex, SingleStringMathTex, SVGMobject, Tex, config
from manim.mobject.svg.svg_mobject import SVG_HASH_TO_MOB_MAP, VMobjectFromSVGPath
from svgelements import Path as SvgPath

from descriptions import described
from scene_renderer.faster import svg, svg_pages, svg_paths

MADE: list[tuple[type[MathTex], tuple[str, ...], dict[str, Any]]] = [
    (MathTex, ("x",), {}),
    (MathTex, (r"\int_0^1 x^2 \, dx", r"= \frac{1}{3}"), {"color": RED}),
    (MathTex, (r"\sqrt{\frac{a}{b}} + \overline{xyz} = 0.5",), {"substrings_to_isolate": ["xyz", "0"]}),
    (MathTex, (r"x^2 + y^2 = z^2",), {"tex_to_color_map": {"x": BLUE, "z": RED}, "font_size": 96}),
    (MathTex, (r"\boxed{E} \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",), {"stroke_width": 2, "height": 3}),
    (Tex, (r"Hello \textbf{World}, ``quotes'' --- ", r"$\frac12$ \underline{under}"), {"fill_opacity": 0.5}),
    (Tex, (r"\special{color push rgb 1 0 0}red\special{color pop} black",), {}),
    (MathTex, (r"\text{äöü}",), {"organize_left_to_right": True}),
]


@pytest.fixture
def replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "media_dir", "media")
    manims = {
        (owner, name): owner.__dict__[name]
        for owner, name in [
            (SvgPath, "parse"),
            (SvgPath, "reify"),
            (SvgPath, "approximate_arcs_with_quads"),
            (VMobjectFromSVGPath, "handle_commands"),
            (SVGMobject, "generate_mobject"),
        ]
    }
    svg_paths.place_directly()
    svg.read_without_writing()
    yield
    for (owner, name), function in manims.items():
        setattr(owner, name, function)
    del SvgPath._segments
    del SingleStringMathTex.init_svg_mobject


def _with_svgelements(monkeypatch: pytest.MonkeyPatch, make: Any) -> Any:
    SVG_HASH_TO_MOB_MAP.clear()
    with monkeypatch.context() as patch:
        patch.setattr(svg_pages, "mobjects", lambda *_: None)
        return described(make(), {})


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize(("kind", "texts", "settings"), MADE)
@pytest.mark.sampled(4)
def test_mobjects_are_the_same(
    kind: type[MathTex], texts: tuple[str, ...], settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all their attributes and groups; also the second time."""

    def make() -> MathTex:
        return kind(*texts, **settings)

    expected = _with_svgelements(monkeypatch, make)
    for _ in range(2):
        SVG_HASH_TO_MOB_MAP.clear()
        assert described(make(), {}) == expected


@pytest.mark.usefixtures("replaced")
def test_mobjects_are_made_without_svgelements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Except the first ones of a style."""
    MathTex("x")
    monkeypatch.setattr(svg, "_parse", lambda *_: pytest.fail("it was parsed"))
    MathTex(r"\frac{a}{b}", "= c")


@pytest.mark.usefixtures("replaced")
def test_mobjects_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one doesn't change another."""
    expected = _with_svgelements(monkeypatch, lambda: MathTex("a", "+ b"))
    changed = MathTex("a", "+ b")
    changed.set_color(RED).shift(manim.UP).set_stroke(BLUE, 3)
    vars(changed.submobjects[0].submobjects[0])["path_obj"].values["id"] = "other"
    for group in changed.id_to_vgroup_dict.values():
        group.set_color(BLUE).add(manim.Dot())
    assert described(MathTex("a", "+ b"), {}) == expected


@pytest.mark.usefixtures("replaced")
def test_defaults_of_a_scene_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if they are set between two formulas."""
    MathTex("a")
    try:
        manim.VMobject.set_default(fill_opacity=0.25, sheen_factor=0.5)
        expected = _with_svgelements(monkeypatch, lambda: MathTex("a"))
        assert described(MathTex("a"), {}) == expected
    finally:
        manim.VMobject.set_default()


@pytest.mark.usefixtures("replaced")
def test_methods_of_a_scenes_own_class_are_used() -> None:
    """Manim calls them."""

    class Mine(MathTex):
        def path_to_mobject(self, path: Any) -> VMobjectFromSVGPath:
            return super().path_to_mobject(path).stretch(3, 0)

    assert Mine("x").width > 2 * MathTex("x").width


HEADER = (
    "<?xml version='1.0' encoding='UTF-8'?>\n<svg version='1.1' xmlns='http://www.w3.org/2000/svg' "
    "xmlns:xlink='http://www.w3.org/1999/xlink' width='9pt' height='9pt' viewBox='0 0 9 9'>\n"
)
DEFINITION = "<defs>\n<path id='g0-1' d='M0 0H2V1.5L1 4Q3 3 2 2T4 4C1 2 3 4 5 6S.5-3-2 1Z'/>\n</defs>\n"
LINE = "<rect x='1' y='2' height='.4' width='5'/>"
USE = "<use x='.5' y='-2' xlink:href='#g0-1'/>\n"


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize(
    "body",
    [
        f"{DEFINITION}<g id='page1'>\n{USE}<g id='a'>\n{USE}<g>\n{LINE}</g></g></g>",
        f"{DEFINITION}<g id='page1'>\n<use x='0' y='0' xlink:href='#g0-1'/>\n</g>",
        f"{DEFINITION}<g id='page1'>\n<use x='.000001' y='0' xlink:href='#g0-1'/>\n</g>",
        f"{DEFINITION}<g id='page1'>\n<g id='a'>{USE}</g><g id='a'>{USE}</g></g>",
        f"{DEFINITION}<g id='page1'>\n{USE}</g><g id='g0-1'></g>",
        f"{DEFINITION}<g id='page1' fill='#ff0000'>{USE}</g>",
        f"{DEFINITION}<g transform='scale(2)'>{USE}</g>",
        f"{DEFINITION}<g id='page1'><use x='1' y='2' xlink:href='#other'/>{USE}</g>",
        f"{USE}{DEFINITION}",
        f"{DEFINITION}<g id='page1'><rect x='1' y='2' height='0' width='5'/>{USE}</g>",
        "<defs><path id='g0-1' d=''/></defs><g id='page1'><use x='1' y='2' xlink:href='#g0-1'/></g>",
        "<defs><path id='g0-1' d='m0 0l1 1z'/></defs><g id='page1'><use x='1' y='2' xlink:href='#g0-1'/></g>",
        "<g id='page1'><path d='M0 0L1 1L0 1Z'/><circle cx='1' cy='1' r='2'/></g>",
        "<style>use { fill: red }</style>" + DEFINITION + USE,
    ],
)
def test_files_are_read_as_before(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are not made by dvisvgm."""
    file = tmp_path / "page.svg"
    file.write_text(f"{HEADER}{body}\n</svg>")

    def make() -> SVGMobject:
        return SVGMobject(file, use_svg_cache=False)

    expected = _with_svgelements(monkeypatch, make)
    assert described(make(), {}) == expected


@pytest.mark.usefixtures("replaced")
@pytest.mark.parametrize("text", ["", "<svg", f"{HEADER}</g></svg>", f"{HEADER}<g id='a'></svg>", "\ufffd"])
def test_broken_files_are_refused_as_before(text: str, tmp_path: Path) -> None:
    """By the XML parser."""
    file = tmp_path / "broken.svg"
    file.write_text(text)
    with pytest.raises(SyntaxError):
        SVGMobject(file)
