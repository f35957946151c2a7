from pathlib import Path

from client import Zygote, render_job
from sources import SQUARE, scene


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


def test_a_coding_line_is_respected(zygote: Zygote, tmp_path: Path) -> None:
    source = "# -*- coding: latin-1 -*-\n" + scene("raise ValueError(len('é'))")
    assert zygote.run(tmp_path, render_job(source)).error.startswith("ValueError: 1\n")


def test_windows_line_ends_and_a_byte_order_mark_are_fine(zygote: Zygote, tmp_path: Path) -> None:
    source = "\ufeff" + SQUARE.replace("\n", "\r\n")
    assert zygote.run(tmp_path, render_job(source)).result["type"] == "done"


def test_a_scene_that_inherits_within_the_source_is_found(zygote: Zygote, tmp_path: Path) -> None:
    source = SQUARE + "\nclass Other(Demo):\n    pass\n"
    assert zygote.run(tmp_path, render_job(source, "Other")).result["type"] == "done"
