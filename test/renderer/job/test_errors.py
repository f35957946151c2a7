import re
from pathlib import Path

import pytest

from client import RENDERER, Zygote, render_job
from sources import SQUARE, scene

MANY = "class A(Scene): pass\nclass B(ThreeDScene): pass\nx = 1\n"
SCENES = """from abc import ABC, abstractmethod
from manim import *
class Base(Scene, ABC):
    @abstractmethod
    def draw(self): ...
    def construct(self): self.draw()
class Demo(Scene):
    def construct(self): ...
class Good(Base):
    def draw(self): ...
"""
TABLE = [
    (
        "name",
        scene("x = 1\nself.play(Create(Foo()))"),
        ["NameError: name 'Foo'", "line 6: self.play(Create(Foo()))"],
    ),
    ("helper", scene("def f():\n    return 1 / 0\nf()"), ["ZeroDivisionError", "line 6: return 1 / 0"]),
    (
        "manim's complaint",
        scene("self.play()"),
        ["ValueError: Called Scene.play with no", "line 5: self.play()"],
    ),
    ("syntax", "from manim import *\nclass Demo(Scene:\n", ["SyntaxError: ", "line 2: class Demo(Scene:"]),
    ("indentation", "if True:\nx = 1\n", ["IndentationError: ", "line 2: x = 1"]),
    (
        "TeX command",
        scene(r"MathTex(r'x + \foo y')"),
        [r"TeX: Undefined control sequence \foo", r"in: x + \foo y", "line 5"],
    ),
    (
        "TeX environment",
        scene(r"Tex(r'\begin{foo}a')"),
        ["Environment foo undefined", r"in: \begin{foo}a", "line 5"],
    ),
    ("TeX brace", scene(r"MathTex(r'\frac{a')"), ["TeX: ", r"in: \frac{a", "line 5"]),
    (
        "TeX package",
        scene(
            r"Tex('a', tex_template=TexTemplate(preamble=r'\usepackage{nosuchpackage}'))",
        ),
        ["TeX: LaTeX Error: File `nosuchpackage.sty' not found.", "texmf/tex/latex/ of the studio's folder"],
    ),
    (
        "TeX font",
        scene(
            r"font = r'\usepackage{fontspec}\setmainfont{No Such Font}'"
            "\nxelatex = TexTemplate(tex_compiler='xelatex', output_format='.xdv', preamble=font)"
            "\nTex('a', tex_template=xelatex)",
        ),
        ['The font "No Such Font" cannot be found.', " fonts/ of the studio's folder"],
    ),
    (
        "TeX font metric",
        scene(r"Tex(r'\font\x=nosuchfont\x a')"),
        ["not loadable: Metric (TFM) file", "isn't installed here", "texmf/fonts/ of the studio's folder"],
    ),
    (
        "LuaTeX font metric",
        scene(
            "lualatex = TexTemplate(tex_compiler='lualatex', output_format='.dvi')"
            "\nTex(r'\\font\\x=nosuchfont\\x a', tex_template=lualatex)",
        ),
        ["not loadable: metric data not found", "texmf/fonts/ of the studio's folder"],
    ),
    ("TeX character", scene("Tex('日本')"), ["Unicode character 日", "in: 日本", "line 5"]),
    (
        "no such module",
        "import pandas\n",
        ["ModuleNotFoundError", "'pandas'", "NumPy", "line 1: import pandas"],
    ),
    (
        "plugin",
        scene("import manim_physics.bodies"),
        ["'manim_physics'", "Scenes can import", "line 5"],
    ),
    (
        "no such name",
        "from manim import Square, TexMobject\n",
        ["ImportError: cannot import name 'TexMobject' from 'manim'", "line 1"],
    ),
    ("old ManimGL", "from big_ol_pile_of_manim_imports import *\n", ["ManimGL", "from manim import *"]),
    ("ManimGL's module", "import manimlib.imports\n", ["ManimGL", "from manim import *"]),
    ("ManimGL", "from manimlib import *\n", ["ManimGL", "from manim import *", "line 1"]),
    (
        "no such class",
        MANY.join(["from manim import *\n", ""]),
        ["no class 'Demo'", "Scenes in the code: A, B."],
    ),
    (
        "construct with a parameter",
        SCENES.replace("construct(self): ...", "construct(self, size): ..."),
        [
            "missing 1",
            "'size'. Manim calls it without arguments. Scenes in the code that can be rendered: Good.\n",
            "line 8: def construct(self, size):",
        ],
    ),
    (
        "__init__ with a parameter",
        SCENES.replace("construct(self): ...", "__init__(self, size): ..."),
        [
            "missing 1",
            "'size'. Manim calls it without arguments. Scenes in",
            "line 8: def __init__(self, size):",
        ],
    ),
    (
        "abstract class",
        SCENES.replace("Demo(Scene)", "Demo(Base)"),
        ["abstract class Demo", "Scenes in the code that can be rendered: Good.\nline 7: class Demo(Base):"],
    ),
    (
        "a call of the scene's own",
        scene("self.grow()", above="Scene.grow = lambda self, by: 0"),
        ["'by'\nline 5"],
    ),
    ("window", scene("self.interactive_embed()"), ["needs a window", "OpenGL isn't here", "line 5"]),
    ("another window", scene("self.embed()"), ["needs a window", "OpenGL isn't here", "line 5"]),
    (
        "OpenGL's camera",
        scene("self.camera.light_source", above="config.renderer = 'opengl'"),
        [
            "no attribute 'light_source'. OpenGL isn't here: scenes are rendered with Manim's Cairo",
            "line 5",
        ],
    ),
    ("Cairo's camera", scene("self.camera.light_source"), ["no attribute 'light_source'\nline 5"]),
    (
        "OpenGL's mobjects",
        scene(
            "self.add(OpenGLVMobject())",
            above="from manim.mobject.opengl.opengl_vectorized_mobject import OpenGLVMobject",
        ),
        ["OpenGL isn't here", "line 5"],
    ),
    (
        "points that are not numbers",
        scene("g = Axes().plot(lambda x: np.log(x - 2), [-1, 1])\nself.play(MoveAlongPath(Dot(), g))"),
        ["80 of the 80 points of a ParametricFunction are not numbers (NaN or infinite)", "line 6"],
    ),
    (
        "a line to nowhere",
        scene("DashedVMobject(Line([0, 0, 0], [np.inf, 0, 0]))"),
        ["to integer. ", " points of a Line are not numbers (NaN or infinite)", "line 5"],
    ),
    ("no scene", "x = 1\n", ["no class 'Demo'", "defines no scene"]),
    ("not a scene", "class Demo: pass\n", ["'Demo' is not a Scene"]),
    ("not a class", "Demo = 1\n", ["'Demo' is not a class"]),
    ("exit", scene("import sys; sys.exit()"), ["sys.exit()", "line 5"]),
    ("exit on import", "raise SystemExit(0)\n", ["sys.exit()", "line 1"]),
    ("recursion", scene("def f(): f()\nf()"), ["RecursionError", "line 5: def f(): f()"]),
    ("interrupt", scene("raise KeyboardInterrupt"), ["KeyboardInterrupt", "line 5"]),
    ("NUL", SQUARE + "\0", ["line 9", "NUL"]),
    ("unknown coding", "# coding: klingon\n" + SQUARE, ["SyntaxError: ", "klingon"]),
    ("file", scene("open('/nowhere/x')"), ["FileNotFoundError", "'/nowhere/x'", "line 5"]),
    ("own file", scene("import os\nopen(os.path.abspath('x'))"), ["FileNotFoundError", "'x'", "line 6"]),
    ("image", scene("ImageMobject('missing.png')"), ["could not find missing.png", "line 5"]),
    ("input", scene("input()"), ["EOFError", "line 5"]),
    (
        "bad __str__",
        scene("class E(Exception):\n    def __str__(self): raise ValueError\nraise E"),
        ["E\nline 7: raise E"],
    ),
    ("endless text", scene("raise ValueError('\\x1b[1m\\r' + 'é' * 10**6)"), ["ValueError:", "line 5"]),
    (
        "long line",
        scene("raise ValueError(" + "1 +" * 500 + "1)"),
        ["ValueError: 501", "line 5: raise ValueError(1 +"],
    ),
]


@pytest.mark.parametrize(("source", "parts"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
@pytest.mark.sampled(4, deep=2)
def test_an_error_has_a_message_and_a_line(
    zygote: Zygote, tmp_path: Path, source: str, parts: list[str]
) -> None:
    outcome = zygote.run(tmp_path, render_job(source))
    error = outcome.error
    for part in parts:
        assert part in error
    for secret in (
        str(tmp_path),
        str(RENDERER.parent),
        "site-packages",
        "scene_renderer",
        "Traceback",
        "/usr/lib",
        'File "',
    ):
        assert secret not in error
    assert len(error.encode()) <= 4096
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", error)
    assert outcome.ended["exitCode"] == 0
    assert not (tmp_path / "video.mp4").exists()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("class", "Python keyword"),
        ("Square", "Manim's own class"),
        ("Scene", "own class"),
        ("no/../way", "no class"),
    ],
)
def test_a_class_name_that_cannot_be_rendered_is_explained(
    zygote: Zygote, tmp_path: Path, name: str, part: str
) -> None:
    error = zygote.run(tmp_path, render_job(SQUARE, name)).error
    assert part in error or "not a Scene" in error
    assert "Scenes in the code: Demo." in error


def test_the_calls_of_the_author_are_listed(zygote: Zygote, tmp_path: Path) -> None:
    body = "def first():\n    second()\ndef second():\n    self.play()\nfirst()"
    error = zygote.run(tmp_path, render_job(scene(body))).error
    assert error.split("\n")[-4:] == [
        "line 8: self.play()",
        "  scene.py:9 in construct: first()",
        "  scene.py:6 in first: second()",
        "  scene.py:8 in second: self.play()",
    ]


def test_a_long_chain_of_calls_is_shortened(zygote: Zygote, tmp_path: Path) -> None:
    body = "def again(n):\n    return again(n - 1) if n else 1 / 0\nagain(99)"
    lines = zygote.run(tmp_path, render_job(scene(body))).error.split("\n")
    assert lines[2] == "  scene.py:7 in construct: again(99)"
    assert lines[8] == "  … 87 more calls"
    assert len(lines) == 17


@pytest.mark.parametrize(
    "kind",
    [
        "class Odd:\n    def __getattr__(self, _): raise SystemExit\n    def __dir__(self): raise SystemExit",
        "class Meta(type):\n    def __dir__(cls): raise KeyboardInterrupt\nclass Odd(metaclass=Meta): pass",
    ],
)
def test_objects_that_resist_a_look_leave_the_error(zygote: Zygote, tmp_path: Path, kind: str) -> None:
    outcome = zygote.run(tmp_path, render_job(scene("Odd.foo", above=kind)))
    assert outcome.error.startswith("AttributeError: type object 'Odd' has no attribute 'foo'")
