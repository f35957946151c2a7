import unicodedata
from pathlib import Path

import pytest

from client import Zygote, render_job
from sources import SQUARE, scene

RAISES = scene("raise ValueError('Größe')")


def test_the_source_is_a_real_module(zygote: Zygote, tmp_path: Path) -> None:
    above = """
        from __future__ import annotations
        import copy, dataclasses, inspect, pickle, sys, typing

        @dataclasses.dataclass
        class Point:
            x: int
            label: typing.ClassVar[str] = "p"
    """
    body = """
        assert pickle.loads(pickle.dumps(Point(3))) == Point(3)
        assert [f.name for f in dataclasses.fields(Point)] == ["x"]
        assert "class Point" in inspect.getsource(Point)
        assert sys.modules[__name__].Demo is Demo
        assert typing.get_type_hints(Point)["x"] is int
        self.wait()
    """
    source = scene(body, above=above).removeprefix("from manim import *\n")
    source = source.replace("import copy", "from manim import *\nimport copy")
    outcome = zygote.run(tmp_path, render_job(source))
    assert outcome.result["type"] == "done", outcome.result


def test_a_main_block_does_not_run(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE + "\nif __name__ == '__main__':\n    raise SystemExit(1)\n"
    assert zygote.run(tmp_path, render_job(source)).result["type"] == "done"


def test_a_scene_may_have_an_init_without_parameters(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE.replace(
        "    def construct",
        "    def __init__(self):\n        super().__init__()\n        self.add(Dot())\n\n    def construct",
    )
    assert zygote.run(tmp_path, render_job(source)).result["type"] == "done"


def test_an_encoding_declaration_is_respected(zygote: Zygote, tmp_path: Path) -> None:
    source = "# -*- coding: latin-1 -*-\n" + scene("raise ValueError(len('é'))")
    assert zygote.run(tmp_path, render_job(source)).error.startswith("ValueError: 1\n")


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (b"# -*- coding: latin-1 -*-\n" + RAISES.encode("latin-1"), "ValueError: Größe\nline 6: raise"),
        (b"\xef\xbb\xbf" + RAISES.encode(), "ValueError: Größe\nline 5: raise ValueError('Größe')"),
        (RAISES.encode(), "ValueError: Größe\nline 5"),
        (b"# -*- coding: latin-1 -*-\n" + RAISES.encode(), "ValueError: GrÃ¶Ã e\nline 6"),
        (RAISES.encode("latin-1"), "SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xf6"),
        (b"# coding: klingon\n" + RAISES.encode(), "SyntaxError: "),
    ],
    ids=["latin-1", "BOM", "UTF-8", "declared wrongly", "undeclared", "unknown"],
)
def test_python_decides_about_the_encoding_of_a_file(
    zygote: Zygote, tmp_path: Path, source: bytes, error: str
) -> None:
    job = render_job(source.decode("latin-1"), isBytes=True)
    assert zygote.run(tmp_path, job).error.startswith(error)


def test_a_class_may_have_any_identifier_as_name(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE.replace("Demo", "Größe")
    decomposed = unicodedata.normalize("NFD", "Größe")
    assert zygote.run(tmp_path, render_job(source, decomposed)).result["type"] == "done"


def test_a_missing_class_is_compared_with_those_of_the_file_in_their_order(
    zygote: Zygote, tmp_path: Path
) -> None:
    source = (
        "from manim import *\nclass Title(Scene): ...\nclass Area(Scene): ...\nclass Circles(Scene): ...\n"
    )
    expected = "no class 'Cirlces'. Did you mean 'Circles'? Scenes in the code: Title, Area, Circles."
    assert expected in zygote.run(tmp_path, render_job(source, "Cirlces")).error


def test_windows_line_ends_and_a_byte_order_mark_are_accepted(zygote: Zygote, tmp_path: Path) -> None:
    source = "\ufeff" + SQUARE.replace("\n", "\r\n")
    assert zygote.run(tmp_path, render_job(source)).result["type"] == "done"


def test_a_scene_that_inherits_within_the_source_is_found(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE + "\nclass Other(Demo):\n    pass\n"
    assert zygote.run(tmp_path, render_job(source, "Other")).result["type"] == "done"


def test_classes_of_the_source_survive_pickle_and_copy(zygote: Zygote, tmp_path: Path) -> None:
    above = """
        import copy, enum, inspect, pickle
        from typing import NamedTuple

        class Kind(enum.Enum):
            ROUND = 1

        class Place(NamedTuple):
            x: float = 1.0

        class Disc(Circle):
            def __init__(self, kind=Kind.ROUND, **options):
                super().__init__(**options)
                self.kind = kind
    """
    body = """
        disc = pickle.loads(pickle.dumps(Disc(radius=2)))
        assert type(disc) is Disc and disc.kind is Kind.ROUND and disc.width == 4
        assert pickle.loads(pickle.dumps(Place())) == Place()
        assert pickle.loads(pickle.dumps(type(self))) is Demo
        assert "def construct" in inspect.getsource(type(self))
        assert inspect.getsource(Disc.__init__).lstrip().startswith("def __init__")
        assert inspect.getmodule(Disc).__file__ == __file__
        import scene
        assert scene.Disc is Disc
        self.play(Transform(Disc(), copy.deepcopy(disc)))
    """
    outcome = zygote.run(tmp_path, render_job(scene(body, above=above)))
    assert outcome.result["type"] == "done", outcome.result


SEVERAL = """
from manim import *

class Late(Scene):
    def construct(self):
        self.wait(0.5)

class Mixin:
    def greet(self):
        self.wait(1)

class Base(Mixin, ThreeDScene):
    pass

class Demo(Base):
    def construct(self):
        self.greet()

class Moving(Mixin, MovingCameraScene):
    def construct(self):
        self.greet()
        self.play(self.camera.frame.animate.shift(UP))

Named = Late
"""


@pytest.mark.parametrize(
    ("name", "seconds"), [("Late", 0.5), ("Demo", 1), ("Moving", 2), ("Base", 1), ("Named", 0.5)]
)
def test_the_named_class_is_rendered(zygote: Zygote, tmp_path: Path, name: str, seconds: float) -> None:
    assert zygote.run(tmp_path, render_job(SEVERAL, name)).result["seconds"] == seconds


def test_a_source_that_renders_at_import_can_be_rendered(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE + "\nwith tempconfig({'quality': 'low_quality', 'preview': True}):\n    Demo().render()\n"
    outcome = zygote.run(tmp_path, render_job(source))
    assert outcome.length == (20, 2.0)


def test_a_scene_can_compute_its_formulas(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        x = sympy.Symbol("x")
        formula = sympy.latex(sympy.integrate(x * sympy.exp(x), x))
        assert formula == "\\\\left(x - 1\\\\right) e^{x}", formula
        self.add(MathTex(formula))
    """
    assert zygote.run(tmp_path, render_job(scene(body, above="import sympy"))).result["type"] == "done"
