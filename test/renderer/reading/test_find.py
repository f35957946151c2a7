"""What is found by reading a source: pairs of code in which something is found, and in which nothing is."""

import time
from textwrap import indent

import manim
import pytest

from scene_renderer.messages import Finding
from scene_renderer.reading import find
from scene_renderer.reading.installed import INSTALLED

_HEAD = "from manim import *\n\n\nclass Demo(Scene):\n    def construct(self):\n"
_FIRST = _HEAD.count("\n") + 1


def _scene(body: str) -> str:
    return _HEAD + indent(body, "        ") + "\n"


def _found(body: str) -> list[tuple[int, str]]:
    """Return the lines in a method, from 1, and the kinds of what is found there."""
    return [((one["line"] or 0) - _FIRST + 1, one["kind"]) for one in find(_scene(body), "Demo")]


def _one(body: str) -> Finding:
    [found] = find(_scene(body), "Demo")
    return found


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        # Formulas
        ("Tex('5% per year')", "tex"),
        # Names
        ("self.add(Circl())", "scene:name"),
        ("print(y); y = 1", "scene:name"),
        ("TextMobject('a')", "scene:name"),
        ("[k for k in range(3)]\nprint(k)", "scene:name"),
        ("del self\nself.wait()", "scene:name"),
        # Imports
        ("import manimlib", "scene:import"),
        ("from manim import Circel", "scene:import"),
        ("import requests_that_are_not_here", "scene:import"),
        # Attributes
        ("Circle().movee(UP)", "scene:attribute"),
        ("c = Circle()\nc.animate.shft(UP)", "scene:attribute"),
        ("Circle().get_centre()", "scene:attribute"),
        ("Circle().get_center().shift(UP)", "scene:attribute"),
        ("np.sinus(1)", "scene:attribute"),
        ("self.plya(Create(Circle()))", "scene:attribute"),
        ("self.camera.frame.scale(2)", "scene:attribute"),
        ("self.play(Create(Circle())).wait()", "scene:attribute"),
        ("[Circle(), Square()].shift(UP)", "scene:attribute"),
        ("for c in [Circle() for k in range(99)]:\n    c.movee(UP)", "scene:attribute"),
        ("config.frame_widht", "scene:attribute"),
        ("t = ValueTracker(0)\nalways_redraw(lambda: Dot(t.value * UP))", "scene:attribute"),
        # Arguments
        ("Circle(radios=2)", "scene:argument"),
        ("Square(1, 2)", "scene:argument"),
        ("Dot().next_to(Dot(), spacing=1)", "scene:argument"),
        ("Rotate()", "scene:argument"),
        ("Union(Square(), Circle(), colour=RED)", "scene:argument"),
        ("Sector(outer_radius=2)", "scene:argument"),
        ("self.play(Circle())", "scene:argument"),
        ("self.play(Circle().shift(UP))", "scene:argument"),
        ("self.play(Circle().shift, UP)", "scene:argument"),
        ("self.play(FadeOut)", "scene:argument"),
        ("self.play()", "scene:argument"),
        ("self.play([[FadeIn(Dot())]])", "scene:argument"),
        ("Axes().plot(lambda x, y: x)", "scene:argument"),
        ("always_redraw(lambda m: Dot())", "scene:argument"),
        ("def f(a, b=1): pass\nf()", "scene:argument"),
        # Types
        ("Circle() * 2", "scene:type"),
        ("'a' + 1", "scene:type"),
        ("Circle()()", "scene:type"),
        ("for k in 5: pass", "scene:type"),
        ("VGroup(Dot(), 5)", "scene:type"),
        ("Dot().shift('left')", "scene:type"),
        ("self.play(Wait(), rate_func=smooth(0.5))", "scene:type"),
        # Values
        ("Square(color='bleu')", "scene:value"),
        ("Dot().set_fill('nothing')", "scene:value"),
        ("a, b = 1, 2, 3", "scene:value"),
        ("for k in range(3): 1 / k", "scene:value"),
        ("self.wait(0)", "scene:value"),
        ("self.play(FadeIn(Dot()), run_time=-1)", "scene:value"),
        ("Polygon([0, 1], [1, 0])", "scene:value"),
        # Lookups
        ("[1, 2][2]", "scene:lookup"),
        ("d = {'a': RED}\nd['b']", "scene:lookup"),
        # Files, networks, what is not supported
        ("ImageMobject('a.png')", "scene:file"),
        ("ImageMobject('https://example.org/a.png')", "scene:network"),
        ("import urllib.request\nurllib.request.urlopen('https://example.org')", "scene:network"),
        ("input('Name: ')", "scene:unsupported"),
        ("raise SystemExit", "scene:exit"),
        # Formulas
        ("MathTex('\\frac{1}{2}')", "tex"),
        ("MathTex(r'x^2^3')", "tex"),
        ("MathTex('$x$')", "tex"),
        ("Tex('a_b')", "tex"),
        (r"MathTex(r'\begin{pmatrix} 1 \end{bmatrix}')", "tex"),
    ],
)
def test_what_would_fail_is_found_at_its_line(body: str, kind: str) -> None:
    last = body.count("\n") + 1
    assert (last, kind) in _found(body)


@pytest.mark.parametrize(
    "body",
    [
        # Formulas
        "Tex('5\\\\% per year')\nMathTex('a % of\\n b')",
        # Loops
        "for k in [1, 2]:\n    if k == 2: break\nelse: later()",
        "while True:\n    break\nelse: later()",
        # Names
        "if self.time > 1:\n    x = 1\nelse:\n    x = 2\nprint(x)",
        "for k in range(round(self.time)):\n    y = k\nprint(y)",
        "def f():\n    return later\nlater = 1\nf()",
        "print([a for b in [[1]] for a in b])",
        "exec('x = 1')\nprint(x)",
        "if (n := 3) > 2: print(n)",
        "try:\n    import nothing_of_this_name\nexcept ImportError:\n    pass",
        "return\nCircl()",
        "if False:\n    Circl()",
        # Attributes
        "c = Circle()\nc.label = Text('a')\nc.label.shift(UP)",
        "self.dot = Dot()\nself.dot.shift(UP)",
        "c = Circle()\nc.set_foo(3)\nc.get_foo()",
        "c = Circle().set(foo=3)\nprint(c.foo)",
        "c = Circle()\nif hasattr(c, 'nothing'): c.nothing()",
        "c = Circle()\nsetattr(c, self.name(), 1)\nprint(c.anything)",
        "c = None\nfor k in range(9):\n    if c is not None: c.shift(UP)\n    c = Circle()",
        "c = Circle()\nfor k in range(9):\n    if k > 2: c.movee\n    c = self.mobjects[0]\n    break",
        "def f(c):\n    c.movee(UP)\nf(self)",
        "try:\n    Circle().movee(UP)\nexcept AttributeError:\n    pass",
        "g = VGroup(Dot(), Square())\ng[0].set_fill(RED, opacity=1)",
        "a = Axes()\na.plot(lambda x: x).underlying_function(1)",
        "m = MathTex('x')\nm.animate.set_color(RED).shift(UP)",
        "Circle().save_state().restore()",
        # Arguments
        "Circle(radius=2, color=RED, z_index=2, stroke_opacity=0.5)",
        "Axes(x_range=[0, 1], axis_config={'include_tip': False}, tips=False)",
        "Square(**{'side_length': 2})",
        "self.play(Create(Square()), run_time=2, rate_func=linear, lag_ratio=0.1)",
        "self.play(*[FadeIn(Dot()) for k in range(3)])",
        "self.play(FadeIn(Dot()) for k in range(3))",
        "self.play([FadeIn(Dot()), FadeIn(Square())])",
        "self.play(Dot().animate(run_time=2).shift(UP))",
        "Axes().plot_surface(lambda u, v: u)",
        "always_redraw(lambda: Dot())",
        "Dot().add_updater(lambda m, dt: m.shift(dt * UP))",
        "def f(*a, **k): pass\nf(1, b=2)",
        # Types and values
        "2 * UP + np.array([1, 2, 0]) - [1, 0, 0]",
        "'a' * 2 + str(3)",
        "x = Square().width / 2 + 1",
        "for m in VGroup(Dot(), Square()): m.shift(UP)",
        "Square(color='#ff0000', fill_color='blue')",
        "for k in range(1, 3): 1 / k",
        "points = []\nfor k in range(3): points.append(UP)\npoints[2]",
        "d = {}\nd['a'] = 1\nd['a']",
        "a, *b = 1, 2, 3",
        "if not self.mobjects: raise SystemExit",
        # Files
        "open('a.png', 'w')\nImageMobject('a.png')",
        # Formulas
        r"MathTex(r'\frac{a}{b}', 'x^{2^3}', r'\text{a_b}')",
        r"MathTex(r'\begin{pmatrix} 1 \\ 2 \end{pmatrix} = \begin{cases} a \end{cases}')",
        "import random\nrandom.sample(range(50), k=3)",
        "for k, m in enumerate(VGroup(Dot()), 1): m.shift(k * UP)",
        "Tex('costs 5\\\\$, see $a_b$')",
        r"Tex(r'\SI{3}{m}', tex_template=TexTemplate())",
    ],
)
def test_what_may_be_right_is_not_reported(body: str) -> None:
    assert _found(body) == []


def test_functions_that_are_not_called_are_not_read() -> None:
    code = "def f():\n    return Circl()\n\n\n"
    assert find(code + _scene("pass")) == []
    assert [one["line"] for one in find(code + "f()\n")] == [2]


def test_other_scenes_are_left_out() -> None:
    code = _scene("Circl()") + "\n\nclass Other(Scene):\n    def construct(self):\n        Squar()\n"
    assert [one["message"] for one in find(code, "Demo")] == ["NameError: name 'Circl' is not defined"]
    assert len(find(code)) == 2
    assert [one["kind"] for one in find(code, "demo")] == ["scene:class", "scene:name", "scene:name"]


def test_attributes_of_own_classes() -> None:
    code = """
from manim import *


class Battery(VGroup):
    def __init__(self, charge, **kwargs):
        super().__init__(**kwargs)
        self.shell = Rectangle(height=2 * charge)
        self.add(self.shell)

    def drain(self):
        return self.shell


class Demo(Scene):
    def construct(self):
        battery = Battery(1, {})
        self.add(battery.shel, battery.shell.movee(UP), battery.drain().hight)
"""
    # The second and third are reached only after the first is mended, and are there too.
    assert [one["message"] for one in find(code.format("color=RED"), "Demo")] == [
        "AttributeError: Battery object has no attribute 'shel'",
        "AttributeError: Rectangle object has no attribute 'movee'",
        "AttributeError: Rectangle object has no attribute 'hight'",
    ]
    assert _kinds(code.format("RED")) == ["scene:argument", *["scene:attribute"] * 3]
    assert _kinds(code.format("colour=RED"))[0] == "scene:argument"


def test_code_without_a_scene() -> None:
    [found] = find("from manim import *\n\nx = Circle()\n")
    assert (found["kind"], found["message"], found["line"]) == (
        "scene:class",
        "The code defines no scene.",
        None,
    )
    assert [one["kind"] for one in find("class A:\n    pass\n")] == ["scene:class"]
    # They may make one.
    assert find("from manim import *\nA = type('A', (Scene,), {})\n") == []
    assert find("from manim import *\nif config.quality:\n    class A(Scene): pass\n") == []
    assert find("from manim import *\n\ndef make():\n    class A(Scene): pass\n    return A\n") == []


def test_a_module_is_no_base() -> None:
    [found] = find("from manim import *\n\n\nclass Demo(scene):\n    pass\n", "Demo")
    assert (found["kind"], found["line"]) == ("scene:type", 4)


def _kinds(code: str) -> list[str]:
    return [one["kind"] for one in find(code, "Demo")]


def test_a_finding_has_its_place_and_what_to_write() -> None:
    found = _one("self.add(\n    Circle(\n        radios=2,\n    )\n)")
    assert (found["line"], found["column"], found["endColumn"]) == (_FIRST + 2, 17, 25)
    assert found["sourceLine"] == "radios=2,"
    assert found["hint"] == "`radios` is not accepted here: use `radius`."
    assert found["fix"] == {"line": _FIRST + 2, "column": 17, "endColumn": 23, "text": "radius"}
    found = _one("é = Circl()")
    assert (found["column"], found["endColumn"], found["candidates"][0]) == (13, 18, "Circle")
    assert found["fix"] == {"line": _FIRST, "column": 13, "endColumn": 18, "text": "Circle"}


@pytest.mark.parametrize(
    ("body", "fix"),
    [
        ("Square().change_color(RED)", "set_color"),
        ("Square().animate.change_opacity(1)", "set_opacity"),
        ("Circle().point_from_angle(PI)", "point_at_angle"),
        ("Dot(size=0.2)", "radius"),
        ("Rotating(Square(), radians=PI)", "angle"),
        ("Title('a').line", "underline"),
    ],
)
def test_a_replacement_works(body: str, fix: str) -> None:
    found = _one(body)
    assert found["fix"] is not None
    assert found["fix"]["text"] == fix
    assert found["sourceLine"] is not None
    start, end = found["fix"]["column"] - 9, found["fix"]["endColumn"] - 9
    assert find(_scene(body[:start] + fix + body[end:]), "Demo") == []


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        # A base would get it twice, or the call has it already.
        ("Triangle(vertices=[LEFT, RIGHT, UP])", "Use `Polygon(a, b, c)` with its corners."),
        ("RegularPolygon(vertices=[LEFT, RIGHT])", None),
        ("Dot(ORIGIN, points=UP)", None),
        (
            "circles = [Circle(), Circle()]\nself.play(LaggedStart(circles))",
            "Make an animation of each: `*[Create(mobject) for mobject in circles]`.",
        ),
        (
            "self.play(FadeIn(Dot()), rate_func='ease')",
            "Give the function itself, without quotes: `smooth`, or `rate_functions.ease_in_out_sine`.",
        ),
    ],
)
def test_what_may_fail_is_no_replacement(body: str, hint: str | None) -> None:
    found = _one(body)
    assert found["fix"] is None
    assert hint is None or found["hint"] == hint


def test_a_command_of_tex_that_python_has_read_is_a_warning() -> None:
    found = _one("MathTex('\\theta')")
    assert (found["kind"], found["severity"]) == ("tex", "warning")


def test_a_nul_character() -> None:
    [found] = find("from manim import *\nx = '\0'\n")
    assert (found["kind"], found["line"], found["column"]) == ("scene:syntax", 2, 6)
    assert found["message"] == "line 2: the code contains a NUL character."
    assert found["sourceLine"] == "x = '\N{REPLACEMENT CHARACTER}'"


def test_syntax_errors() -> None:
    [found] = find("from manim import *\n\nclass Demo(Scene)\n    pass\n")
    assert (found["kind"], found["line"], found["hint"]) == (
        "scene:syntax",
        3,
        "End the line with a colon.",
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from manim import *\nclass Demo(VGroup):\n    pass\n", "The class 'Demo' is not a Scene"),
        ("from manim import *\nclass Dem(Scene):\n    pass\n", "The code has no class 'Demo'"),
        (_HEAD.replace("self", "self, color") + "        pass\n", "TypeError: Demo.construct() missing"),
    ],
)
def test_the_class_that_is_asked_for(code: str, message: str) -> None:
    [found] = find(code, "Demo")
    assert found["kind"] == "scene:class"
    assert found["message"].startswith(message)
    assert found["line"] is not None


@pytest.mark.parametrize(
    "code",
    [
        "(" * 5_000,
        "x = " + "-" * 50_000 + "1",
        "x = " + "(" * 90 + ")" * 90,
        "x = [" + "1," * 60_000 + "]",
        "x = " + "+".join(["1"] * 20_000),
        "x = 10 ** 10 ** 10",
        "x = 'a' * 10 ** 12",
        "x = [0] * 10 ** 12",
        "for a in range(12):\n  for b in range(12):\n    for c in range(12):\n      x = a",
        "x = 1\n" * 60_000,
        "def f(): return f()\nf()\n",
        "class A(A): pass\nA()\n",
        "\0",
        "\ud800",
        _scene("\n".join(f"a{k} = Circl{k}()" for k in range(900))),
        _scene("\n".join(["Polygon(UP, DOWN, RIGHT, color=RED)"] * 3_000)),
        _scene("x = Axes(x_range=[0, 1])\n" * 2_000),
        "f'" + "{1}" * 20_000 + "'",
        "lambda: " * 900 + "1",
    ],
)
def test_hostile_sources_end_soon(code: str) -> None:
    _ = INSTALLED.sources  # read before the fork of a reader
    start = time.process_time()
    assert len(find(code)) <= 20
    assert time.process_time() - start < 2


def test_no_code_of_the_author_is_run() -> None:
    code = """
import sys
from manim import *

sys.modules["was_run"] = sys


class Meta(type):
    def __new__(cls, *args):
        sys.modules["was_run"] = sys
        return super().__new__(cls, *args)


class Mine(metaclass=Meta):
    def __init_subclass__(cls):
        sys.modules["was_run"] = sys


class Demo(Scene):
    def construct(self):
        axes = Axes()
        axes.plot(lambda x: sys.modules.update(was_run=sys))
        Dot().add_updater(lambda m: sys.modules.update(was_run=sys), call_updater=True)
        VGroup(Dot()).sort(lambda p: sys.modules.update(was_run=sys))
        Dot().apply_function(lambda p: sys.modules.update(was_run=sys))
"""
    import sys

    find(code)
    assert "was_run" not in sys.modules


def _is_made_of(kind: type, *given: object, **named: object) -> bool:
    try:
        kind(*given, **named)
    except TypeError as error:
        return "unexpected keyword" not in str(error)
    return True


def test_what_is_said_of_keywords_is_what_the_classes_do() -> None:
    checked = 0
    for kind in vars(manim).values():
        if not isinstance(kind, type) or not issubclass(kind, manim.VMobject | manim.Animation):
            continue
        if not kind.__module__.startswith(("manim.mobject.geometry", "manim.animation")):
            continue
        for given in ((), (manim.Square(),), (manim.Square(), manim.Circle())):
            try:
                kind(*given)
            except Exception:
                continue
            if INSTALLED.refusal(kind, "scenepress", None) is not None:
                checked += 1
                assert not _is_made_of(kind, *given, scenepress=1), kind
            break
    assert checked > 60
