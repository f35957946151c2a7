from pathlib import Path

from client import Zygote, list_job, render_job
from sources import SQUARE

FAMILY = """
import json, manim
from manim import Scene, Square, ThreeDScene as Deep

class Base(Scene): ...
class Zoo(Base): ...
class Ape(manim.MovingCameraScene, Base): ...
class Solid(Deep): ...
class NoScene(Square): ...

Alias = Zoo
Other = type("Dynamic", (Base,), {})
not_a_class = Zoo
"""


def test_scenes_are_listed_as_manim_lists_them(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, list_job(FAMILY))
    assert outcome.result == {"type": "scenes", "names": ["Ape", "Base", "Dynamic", "Solid", "Zoo"]}
    assert outcome.ended["exitCode"] == 0


def test_nothing_is_rendered(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.run(tmp_path, list_job(SQUARE)).result["names"] == ["Demo"]
    assert not (tmp_path / "video.mp4").exists()


def test_code_without_scenes_has_an_empty_list(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.run(tmp_path, list_job("from manim import *")).result["names"] == []


def test_an_error_in_the_code_has_a_line(zygote: Zygote, tmp_path: Path) -> None:
    error = zygote.run(tmp_path, list_job("x = 1\ny = x / 0\n")).error
    assert error == "ZeroDivisionError: division by zero\nline 2: y = x / 0"


def test_a_listed_name_can_be_rendered(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.run(tmp_path, render_job(FAMILY, "Dynamic")).result["type"] == "done"
