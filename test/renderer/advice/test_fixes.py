"""Replacements: with one, a check finds nothing more."""

import ast

import manim
import pytest

from scene_renderer.advice import call_edits, tex_fixes
from scene_renderer.advice.causes import advise
from scene_renderer.advice.fixes import fix_of
from scene_renderer.advice.place import place_of
from scene_renderer.advice.syntax_fixes import applied
from scene_renderer.messages import Finding
from scene_renderer.reading import find
from sources import scene


def _first(code: str) -> Finding:
    return find(code, "Demo")[0]


def _mended(code: str) -> str:
    found = _first(code)
    assert found["fix"] is not None
    return applied(found["fix"], code)


@pytest.mark.parametrize(
    ("body", "mended"),
    [
        # What is not imported
        ("random.random()", "import random\n"),
        ("factorial(3)", "from math import factorial\n"),
        # The base of the class
        ("self.set_camera_orientation(phi=1)", "class Demo(ThreeDScene):"),
        ("self.camera.frame.save_state()", "class Demo(MovingCameraScene):"),
        # Of methods whose names begin with get or set
        ("t = Text('a')\nt.set_gradient(RED, BLUE, RED)", "t.set_color_by_gradient(RED, BLUE, RED)"),
        ("Matrix([[1]]).get_cols()", "Matrix([[1]]).get_columns()"),
        ("Axes().get_graph(lambda x: x, color=RED)", "Axes().plot(lambda x: x, color=RED)"),
        # Names with a namespace
        ("Dot(FRAME_WIDTH * RIGHT / 2)", "Dot(config.frame_width * RIGHT / 2)"),
        # Arguments
        ("Sector(outer_radius=2)", "Sector(radius=2)"),
        ("VMobject().set_points_as_corners(*[UP, DOWN])", "set_points_as_corners([UP, DOWN])"),
        ("Circle().set_fill(BLUE, alpha=0.5)", "Circle().set_fill(BLUE, opacity=0.5)"),
        (
            "Code(code_string='x', font_size=24)",
            "Code(code_string='x', paragraph_config={\"font_size\": 24})",
        ),
        ("Axes(include_numbers=True)", 'Axes(axis_config={"include_numbers": True})'),
        ("self.wait('2')", "self.wait(2)"),
        ("always_redraw(lambda m: Dot())", "always_redraw(lambda: Dot())"),
        ("'a' + np.pi", "'a' + str(np.pi)"),
        # Animations of earlier versions
        ("self.play(FadeInFrom(Dot(), DOWN))", "self.play(FadeIn(Dot(), shift=-DOWN))"),
        ("self.play(FadeOutAndShift(Dot(), 2 * UP, run_time=2))", "FadeOut(Dot(), shift=2 * UP, run_time=2)"),
        ("self.play(FadeInFromDown(Dot()))", "self.play(FadeIn(Dot(), shift=UP))"),
        # Animations
        ("c = Circle()\nself.play(c.shift, UP, run_time=2)", "self.play(c.animate.shift(UP), run_time=2)"),
        ("c = Circle()\nself.play(c.shift(UP).scale(2))", "self.play(c.animate.shift(UP).scale(2))"),
        ("c = [FadeIn(Dot())]\nself.play([c])", "self.play(*[c])"),
        # Syntax
        ("for k in range(3)  # each\n    Dot()", "for k in range(3):  # each"),
        ("self.play(Write(Text('a'))", "self.play(Write(Text('a')))"),
        ("for k in range(len('abc'):\n    Dot()", "for k in range(len('abc')):"),
        ("VGroup(\n    Dot(),\nself.wait()", "    Dot(),)"),
        ("Circle(radius=1 color=RED)", "Circle(radius=1, color=RED)"),
        ("VGroup(\n    Dot()\n    Circle(),\n)", "    Dot(),\n"),
        ("x = 1\n y = 2", "\n        y = 2"),
        ("x = 1\nif x:\n    pass\nelse if x == 2:\n    pass", "\n        elif x == 2:"),
        ("Title(\"Euler's number)", 'Title("Euler\'s number")'),
        # Formulas
        ("Tex('5% of it', color=RED)", r"'5\\% of it'"),
        ("Tex(r'5% of it', color=RED)", r"r'5\% of it'"),
        (r"MathTex('\frac{1}{2}')", r"r'\frac{1}{2}'"),
    ],
)
def test_with_a_replacement_nothing_is_found(body: str, mended: str) -> None:
    new = _mended(scene(body))
    assert mended in new
    assert find(new, "Demo") == []


def test_an_import_is_written_below_the_others() -> None:
    code = scene("Dot()").replace("from manim import *", '"""Text."""\nfrom manim import (\n    Scene,\n)')
    assert _mended(code).split("\n")[3:5] == [")", "from manim import Dot"]


@pytest.mark.parametrize(
    "body",
    [
        # No module: something else is meant by the name.
        "print(time + 1)",
        # What follows the method may be an animation.
        "c = Circle()\nself.play(c.shift, FadeIn(Dot()))",
        # More than the star would be wrong.
        "Square(*[1, 2], *[3])",
        # The bracket belongs before the method.
        "Text('a'.shift(UP)",
        # An operator may be meant.
        "print(2 Dot())",
        # The dictionary has other values already.
        "Code(code_string='x', font_size=24, paragraph_config={'line_spacing': 1})",
        # The parameter is used.
        "always_redraw(lambda m: Dot(m))",
        # Two blocks are as near.
        "if True:\n    x = 1\n  y = 2",
        # Its last backslash is Python's.
        r"MathTex('\frac{1}{2} \\ 3')",
    ],
)
def test_what_is_not_certain_is_no_replacement(body: str) -> None:
    assert _first(scene(body))["fix"] is None


@pytest.mark.parametrize("name", ["construct", "setup"])
def test_a_method_gets_self(name: str) -> None:
    code = f"from manim import *\nclass Demo(Scene):\n    def {name}():\n        Dot()\n"
    found = find(code, "Demo")
    if name == "construct":
        assert found[0]["fix"] == {"line": 3, "column": 19, "endColumn": 19, "text": "self"}
    fix = call_edits.method_with_self(f"Demo.{name}() takes 0 positional arguments but 1 was given", code)
    assert fix is not None
    assert f"def {name}(self):" in applied(fix, code)


def test_only_a_base_of_the_class_that_is_needed_is_replaced() -> None:
    code = scene("self.set_camera_orientation(phi=1)").replace("Demo(Scene)", "Demo(ZoomedScene)")
    found = find(code, "Demo")
    assert found == [] or found[0]["fix"] is None


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("2 * Circle().get_center", None),
        ("(c := Circle()) and 2 * c.get_center", "(c := Circle()) and 2 * c.get_center()"),
        ("(c := Circle()) and c.shift + UP", None),
        (
            "(c := Circle()) and Arrow(c.get_right, c.get_right() + UP)",
            "(c := Circle()) and Arrow(c.get_right(), c.get_right() + UP)",
        ),
        ("(g := Graph([1], [])).vertex", "(g := Graph([1], [])).vertices"),
        ("(c := Circle()) and Scene().play(c.get_center())", None),
    ],
)
def test_what_only_a_run_finds(line: str, mended: str | None) -> None:
    with pytest.raises((TypeError, AttributeError, ValueError)) as raised:
        exec(compile(line, "scene.py", "exec"), {**vars(manim)})
    place = place_of(raised.value, "scene.py", line)
    assert place is not None
    advice = advise(raised.value, place, line)
    fix = fix_of(advice, advice.span or place.span, line)
    assert (None if fix is None else applied(fix, line)) == mended


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        (r"MathTex(r'\aplha + 1')", r"MathTex(r'\alpha + 1')"),
        (r"MathTex('\\aplha + 1', r'\aplhabet')", r"MathTex('\\alpha + 1', r'\aplhabet')"),
        # One of the two is at fault.
        (r"MathTex(r'\aplha', r'\aplha')", None),
    ],
)
def test_a_command_is_replaced_where_it_is_written_once(line: str, mended: str | None) -> None:
    call = ast.parse(line, mode="eval").body
    fix = tex_fixes.fix_of(r"TeX: Undefined control sequence \aplha", (r"\alpha",), call, line)
    assert (None if fix is None else applied(fix, line)) == mended


def test_texts_that_are_put_together_are_left_alone() -> None:
    line = "Tex('5% of %s' % name)"
    call = ast.parse(line, mode="eval").body
    assert tex_fixes.fix_of("TeX: `%` begins a comment", (), call, line) is None
