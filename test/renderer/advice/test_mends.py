"""Replacements for classes of errors: with one, a check finds nothing more."""

import ast

import manim
import pytest

from scene_renderer.advice import tex_mends
from scene_renderer.advice.causes import advise
from scene_renderer.advice.fixes import fix_of
from scene_renderer.advice.place import place_of
from scene_renderer.advice.syntax_fixes import applied
from scene_renderer.reading import find
from sources import scene


def _mended(code: str) -> str | None:
    found = find(code, "Demo")
    fix = found[0]["fix"] if found else None
    return None if fix is None else applied(fix, code)


@pytest.mark.parametrize(
    ("body", "mended"),
    [
        ("d = Dot()\nd.fade_in()", "self.play(FadeIn(d))"),
        ("d = Dot()\nself.play(d.fade_in())", "self.play(FadeIn(d))"),
        ("d = Dot()\nself.play(d.fade_out(run_time=2))", "self.play(FadeOut(d, run_time=2))"),
        ('t = Text("abc", position=UP * 2, font_size=30)', 't = Text("abc", font_size=30).move_to(UP * 2)'),
        ("s = Square(rotation=PI/4)", "s = Square().rotate(PI/4)"),
        ("a = Axes(x_min=0, x_max=10, y_range=[0, 1])", "a = Axes(x_range=[0, 10], y_range=[0, 1])"),
        (
            "a = Axes(); g = a.plot(lambda x: x)\nr = a.get_area(g, x_min=0, x_max=2)",
            "r = a.get_area(g, x_range=[0, 2])",
        ),
        ("self.play(Circle())", "self.play(Create(Circle()))"),
        ('t = Text("a")\nself.play(t)', "self.play(Write(t))"),
        ("ds = [Dot(), Dot()]\nself.play(ds)", "self.play(*[Create(mobject) for mobject in ds])"),
        ("self.play()\nself.wait()", "self.wait()"),
        ("self.play(self.wait(1))", "self.wait(1)"),
        (
            "self.play(Succession(FadeIn(Dot()), self.wait(1)))",
            "self.play(Succession(FadeIn(Dot()), Wait(1)))",
        ),
        (
            "c = Circle()\nself.play(c.animate.shift(UP, run_time=2))",
            "self.play(c.animate(run_time=2).shift(UP))",
        ),
        ("c = Circle()\nc.shift(UP, run_time=2)", "self.play(c.animate(run_time=2).shift(UP))"),
        (
            "c = Circle()\nself.play(c.animate.move_to(UP, run_time=2, rate_func=linear))",
            "self.play(c.animate(run_time=2, rate_func=linear).move_to(UP))",
        ),
        ("self.play(Create([Circle(), Square()]))", "self.play(Create(VGroup(Circle(), Square())))"),
        ('a = Text("a"); b = Text("b")\nself.play(FadeIn([a, b]))', "self.play(FadeIn(VGroup(a, b)))"),
        ('self.play(Write("hello"))', 'self.play(Write(Text("hello")))'),
        ('g = VGroup("a", Dot())', 'g = VGroup(Text("a"), Dot())'),
        ("self.wait(time=2)", "self.wait(duration=2)"),
        ("self.wait(0)", "pass"),
        ("self.play(FadeIn(Dot()), run_time=0)", "self.play(FadeIn(Dot()), run_time=1 / config.frame_rate)"),
        (
            'self.play(FadeIn(Dot()), rate_func="ease_in_out_sine")',
            "self.play(FadeIn(Dot()), rate_func=rate_functions.ease_in_out_sine)",
        ),
        ('Dot(color="lightgrey")', "Dot(color=LIGHT_GREY)"),
        ('Dot(color="crimson")', "Dot(color=SVGNAMES.CRIMSON)"),
        ('Dot(color="FF0000")', 'Dot(color="#FF0000")'),
        ("Dot().to_corner(UPPER_LEFT)", "Dot().to_corner(UL)"),
        ('Dot().next_to(Dot(), "right")', "Dot().next_to(Dot(), RIGHT)"),
        ("Polygon((0, 0), (1, 0), (0, 1))", "Polygon((0, 0, 0), (1, 0, 0), (0, 1, 0))"),
        ("Dot(np.array([1, 2]))", "Dot(np.array([1, 2, 0]))"),
        ("Dot().move_to(1, 2)", "Dot().move_to([1, 2, 0])"),
        ("p = [1, 2, 0]\nDot(p * 2.0)", "Dot(np.array(p) * 2.0)"),
        ("self.add(Dot([randint(1, 2), 0, 0]))", "from random import randint"),
        ("self.camera.set_background_color(WHITE)", "self.camera.background_color = WHITE"),
        (
            "t = ValueTracker(0)\nd = always_redraw(Dot(t.get_value() * RIGHT))",
            "d = always_redraw(lambda: Dot(t.get_value() * RIGHT))",
        ),
        ("a = Axes()\na.plot(np.sin(x), color=RED)", "a.plot(lambda x: np.sin(x), color=RED)"),
        ('a = Axes()\na.plot("x**2")', "a.plot(lambda x: x**2)"),
        ("t = Text(5)", "t = Text(str(5))"),
        ('t = Text("a", to_edge=DOWN)', 't = Text("a").to_edge(DOWN)'),
        ("g = Graph([1, 2], [])\ng.add_edge(1, 2)", "g.add_edges((1, 2))"),
        (
            'Table([["a", "b"]], col_labels=["x", "y"])',
            'Table([["a", "b"]], col_labels=[Text(one) for one in ["x", "y"]])',
        ),
        ("v = np.array([1, 2])\nDot(v)", "v = np.array([1, 2, 0])"),
        ('t = Text("a", bold=True)', 't = Text("a", weight=BOLD)'),
        ('t = Tex("a", font="Arial")', 't = Tex("a")'),
        ('b = Brace(Square(), DOWN)\nl = b.get_label("a")', 'l = b.get_text("a")'),
        ("a = Square(width=2)", "a = Square(side_length=2)"),
        ("a = Square(2, BLUE)", "a = Square(2, color=BLUE)"),
        (
            "a = RightAngle(Line(ORIGIN, RIGHT), Line(ORIGIN, UP), size=0.3)",
            "a = RightAngle(Line(ORIGIN, RIGHT), Line(ORIGIN, UP), length=0.3)",
        ),
        ("a = Line(LEFT, RIGHT, width=4)", "a = Line(LEFT, RIGHT, stroke_width=4)"),
        ("a = DecimalNumber(value=3)", "a = DecimalNumber(number=3)"),
        ("a = Table([[1, 2], [3, 4]])", "a = IntegerTable([[1, 2], [3, 4]])"),
        (
            'a = Table([["a", "b"]], headers=["x", "y"])',
            'a = Table([["a", "b"]], col_labels=[Text(str(one)) for one in ["x", "y"]])',
        ),
        ("Square().get_corner(UP, LEFT)", "Square().get_corner(UP + LEFT)"),
        ("Square().get_top_left()", "Square().get_corner(UL)"),
        ("Square().align_to(Dot(), side=LEFT)", "Square().align_to(Dot(), direction=LEFT)"),
        ("self.fade_in(Circle())", "self.play(FadeIn(Circle()))"),
        ('self.write(Text("a"))', 'self.play(Write(Text("a")))'),
        ("self.play(FadeIn(Dot(), UP))", "self.play(FadeIn(Dot(), shift=UP))"),
        ("self.play(Shift(Square(), UP))", "self.play(Square().animate.shift(UP))"),
        ("self.play(Create(Circle())))", "self.play(Create(Circle()))"),
        ("self.add(Dot([1, 2, 0))", "self.add(Dot([1, 2, 0]))"),
        ("t = Text(“abc”)", 't = Text("abc")'),
        ("x = 1\nif x = 1:\n    self.add(Dot())", "if x == 1:"),
        ("self.play(FadeIn(Dot()) FadeIn(Circle()))", "self.play(FadeIn(Dot()), FadeIn(Circle()))"),
        ("Circle(color=RED, 2)", "Circle(2, color=RED)"),
        ("for i in range(3):\nself.add(Dot())", "self.add(Dot())"),
        ('d = {"a": 1}\nt = Text(f"{d["a"]}")', "t = Text(f\"{d['a']}\")"),
        ("x = 2\ny = 2x", "y = 2 * x"),
        ("x = 1\nif x > 0 && x < 2:\n    self.add(Dot())", "if x > 0 and x < 2:"),
        ("c = new Circle()", "c = Circle()"),
        ("for (i in range(3)):\n    self.add(Dot())", "for i in range(3):"),
        ("for i range(3):\n    self.add(Dot())", "for i in range(3):"),
        ("for i in 3:\n    self.add(Dot())", "for i in range(3):"),
        ("for x in range(0, 1, 0.5):\n    self.add(Dot())", "for x in np.arange(0, 1, 0.5):"),
        ("for x in range(10 / 2):\n    self.add(Dot())", "for x in range(10 // 2):"),
        ("xs = [1, 2, 3]\nm = xs[len(xs) / 2]", "m = xs[len(xs) // 2]"),
        ("n = VGroup(Dot()).length()", "n = len(VGroup(Dot()))"),
        ("xs = [1]\nn = xs.length", "n = len(xs)"),
        ("c = Circle()\nw = c.width()", "w = c.width"),
        ("d = [1, 0, 0] - [0, 1, 0]", "d = np.array([1, 0, 0]) - [0, 1, 0]"),
        ("x = np.linalg.inverse(np.eye(2))", "x = np.linalg.inv(np.eye(2))"),
        ("self.apply_matrix([[1, 1], [0, 1]])", "class Demo(LinearTransformationScene):"),
        (
            "a = Axes(); g = a.plot(lambda x: x)\nl = a.get_vertical_line(2, g)",
            "l = a.get_vertical_line(a.i2gp(2, g))",
        ),
        (
            "a = Axes(); g = a.plot(lambda x: x)\nl = a.get_v_line_to_graph(2, g)",
            "l = a.get_vertical_line(a.i2gp(2, g))",
        ),
        ("a = Axes()\nt = a.x_min", "t = a.x_range[0]"),
        ('t = Tex("my_variable")', 't = Tex("my\\\\_variable")'),
        ('t = Tex("Q & A")', 't = Tex("Q \\\\& A")'),
        ('t = Tex("# 1")', 't = Tex("\\\\# 1")'),
        ('t = MathTex(r"$x^2$")', 't = MathTex(r"x^2")'),
        (
            't = MathTex(r"\\begin{pmatrix} a \\end{bmatrix}")',
            't = MathTex(r"\\begin{pmatrix} a \\end{pmatrix}")',
        ),
        (
            't = MathTex(r"\\begin{align} a &= b \\end{align}")',
            't = MathTex(r"\\begin{aligned} a &= b \\end{aligned}")',
        ),
        ('t = Underline("abc")', 't = Underline(Text("abc"))'),
        ("s = SurroundingRectangle([Dot(), Dot()])", "s = SurroundingRectangle(VGroup(Dot(), Dot()))"),
        (
            "a = Axes()\ng = a.plot_line_graph([(1, 1), (2, 4), (3, 9)])",
            "g = a.plot_line_graph(*zip(*[(1, 1), (2, 4), (3, 9)]))",
        ),
        ("self.play(Scale(Square(), 2))", "self.play(Square().animate.scale(2))"),
        ("self.play_animation(FadeIn(Dot()))", "self.play(FadeIn(Dot()))"),
    ],
)
def test_with_a_replacement_nothing_is_found(body: str, mended: str) -> None:
    new = _mended(scene(body))
    assert new is not None
    assert mended in (line.strip() for line in new.split("\n"))
    assert find(new, "Demo") == []


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ('(m := MathTex("a", "b")) and m[2]', '(m := MathTex("a", "b")) and m[1]'),
        ("VGroup(Dot())[4]", None),
        ('(m := MathTex("a+b")) and m[2]', '(m := MathTex("a+b")) and m[0][2]'),
        ('(m := MathTex("a+b")) and m[7]', None),
        (
            "(c := [RED, BLUE]) and [c[i] for i in range(3)]",
            "(c := [RED, BLUE]) and [c[i % len(c)] for i in range(3)]",
        ),
        ("(c := [1, 2]) and [c[i] for i in range(3)]", None),
        ("(c := Circle()) and c + UP", "(c := Circle()) and c.get_center() + UP"),
        ("(c := Circle()) and c - c", "(c := Circle()) and c.get_center() - c.get_center()"),
        ("(c := Circle()) and c + c", None),
        ("(c := Circle()) and c.center + UP", "(c := Circle()) and c.get_center() + UP"),
        (
            "(t := ValueTracker(1)) and Dot(t * RIGHT)",
            "(t := ValueTracker(1)) and Dot(t.get_value() * RIGHT)",
        ),
        ("(x := 2.0) and x^2", "(x := 2.0) and x**2"),
        ("ParametricFunction(lambda t: [t, t**2])", "ParametricFunction(lambda t: [t, t**2, 0])"),
        ("ApplyMethod(Dot().shift(UP))", "Dot().animate.shift(UP)"),
        ('Text("a", weight="bold")', 'Text("a", weight=BOLD)'),
        ('Text("a", slant=BOLD)', 'Text("a", weight=BOLD)'),
        ("for i, d in [Dot(), Dot()]: pass", "for i, d in enumerate([Dot(), Dot()]): pass"),
        ("for a, d in [Dot(), Dot()]: pass", None),
        ('for a, b in {"x": 1, "yy": 2}: pass', 'for a, b in {"x": 1, "yy": 2}.items(): pass'),
        ("(v := np.array([1, 2])) is not None and Dot(v)", None),
    ],
)
def test_what_only_a_run_finds(line: str, mended: str | None) -> None:
    names = {**vars(manim)}
    with pytest.raises((TypeError, AttributeError, ValueError, IndexError, NotImplementedError)) as raised:
        exec(compile(line, "scene.py", "exec"), names)
    place = place_of(raised.value, "scene.py", line)
    assert place is not None
    advice = advise(raised.value, place, line)
    fix = fix_of(advice, advice.span or place.span, line)
    assert (None if fix is None else applied(fix, line)) == mended
    if mended is not None:
        exec(compile(mended, "scene.py", "exec"), names)


@pytest.mark.parametrize(
    "body",
    [
        # Which of the two is meant?
        "Circle(color=RED, radius=1, color=BLUE)",
        # The duration of a pause that would end before it begins.
        "self.wait(-1)",
        # The method may be of the scene's own classes.
        "Circle().add_text('a')",
        # Whether the lines below belong to the function is not known.
        "def f():\nDot()\nDot()",
        # Nothing says what it becomes.
        "self.play(ReplacementTransform(Circle()))",
        # The value may be used elsewhere, too.
        "Axes(x_max=3)",
    ],
)
def test_what_is_not_certain_is_no_replacement(body: str) -> None:
    assert _mended(scene(body)) is None


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        ("class Demo(scene):", "class Demo(Scene):"),
        ("class Demo:", "class Demo(Scene):"),
        ("class Demo(Scene):\n    CONFIG = {'size': 2}", None),
    ],
)
def test_the_class_of_a_scene(code: str, mended: str | None) -> None:
    whole = f"from manim import *\n{code}\n    def construct(self):\n        Dot()\n"
    new = _mended(whole)
    assert (new or whole).split("\n")[1] == (mended or "class Demo(Scene):")
    assert find(new or whole, "Demo") == []


@pytest.mark.parametrize(
    ("head", "mended"),
    [
        ("from manimlib.imports import *", "from manim import *"),
        ("from manim import *\nfrom manim.animation.fade import Fade", "from manim import Fade"),
        ("from manim import Scene, Dot, ShowCreation", "from manim import Scene, Dot, Create"),
        ("from manim import *\nimport matplotlib.pyplot as plt", "# import matplotlib.pyplot as plt"),
    ],
)
def test_imports(head: str, mended: str) -> None:
    new = _mended(f"{head}\nclass Demo(Scene):\n    def construct(self):\n        Dot()\n")
    assert new is not None
    assert mended in new.split("\n")


def test_a_module_that_is_used_is_not_left_out() -> None:
    code = scene("plt.plot([1])").replace("import *", "import *\nimport matplotlib.pyplot as plt")
    assert _mended(code) is None


def test_a_value_of_a_configuration_of_earlier_versions() -> None:
    head = "from manim import *\nclass Demo(Scene):\n    CONFIG = {'r': 2}\n"
    code = f"{head}    def construct(self):\n        Dot(radius=self.r)\n"
    new = _mended(code)
    assert new is not None
    assert 'Dot(radius=self.CONFIG["r"])' in new
    assert find(new, "Demo") == []


def test_a_colon_is_written_though_more_is_wrong_below() -> None:
    new = _mended(scene("for k in range(3)\n    self.wait(1\nself.wait()"))
    assert new is not None
    assert "for k in range(3):" in new
    again = _mended(new)
    assert again is not None
    assert find(again, "Demo") == []


def test_a_line_with_tabs_is_indented_like_the_one_above() -> None:
    code = "from manim import *\nclass Demo(Scene):\n    def construct(self):\n        Dot()\n\tDot()\n"
    new = _mended(code)
    assert new is not None
    assert new.split("\n")[4] == "        Dot()"


def test_a_method_gets_self_before_its_parameters() -> None:
    code = scene("self.add(self.dot(1))") + "\n    def dot(x):\n        return Dot([x, 0, 0])\n"
    new = _mended(code)
    assert new is not None
    assert "def dot(self, x):" in new
    assert find(new, "Demo") == []


@pytest.mark.parametrize("fence", ["```python", "Here is the code of the scene:"])
def test_what_is_around_code_becomes_a_comment(fence: str) -> None:
    new = _mended(f"{fence}\n{scene('Dot()')}")
    assert new is not None
    assert new.startswith("#")
    assert find(new, "Demo") == []


@pytest.mark.parametrize(
    ("message", "line", "mended"),
    [
        (
            "Unicode character \u03b1 (U+03B1)",
            'MathTex("\u03b1 + βx → ∞")',
            r'MathTex("\\alpha + \\beta x \\to \\infty")',
        ),
        ("Unicode character π (U+03C0)", 'Tex(r"the number π")', r'Tex(r"the number $\pi$")'),
        ("Unicode character 你 (U+4F60)", 'Tex("你好")', None),
        ("Missing $ inserted.", r'Tex(r"\frac{1}{2}")', r'MathTex(r"\frac{1}{2}")'),
        ("Missing $ inserted.", r'Tex(r"The angle \alpha is")', r'Tex(r"The angle $\alpha$ is")'),
        ("Missing { inserted.", r'MathTex(r"\frac{a \sqrt{b}{2a}")', r'MathTex(r"\frac{a \sqrt{b}}{2a}")'),
        ("Missing { inserted.", r'MathTex(r"\frac{1}")', None),
    ],
)
def test_strings_of_tex(message: str, line: str, mended: str | None) -> None:
    call = ast.parse(line, mode="eval").body
    fix = tex_mends.fix_of(f"TeX: {message}", call, (), line)
    assert (None if fix is None else applied(fix, line)) == mended


def test_a_package_is_added_to_the_preamble() -> None:
    line = 'MathTex("x", color=RED)'
    fix = tex_mends.fix_of(
        "TeX: Undefined control sequence", ast.parse(line, mode="eval").body, ("cancel",), line
    )
    assert fix is not None
    assert applied(fix, line) == (
        r'MathTex("x", color=RED, tex_template=TexTemplate().add_to_preamble(r"\usepackage{cancel}"))'
    )
