"""Parameters of scenes: what they are given, what they declare, and what is wrong with a value."""

import json
from pathlib import Path
from typing import Any

import pytest

from client import Zygote, check_job, list_job, read_job, render_job

_SCENE = """\
from manim import *
from scenepress_scene import param


class Demo(Scene):
    name = param("name", "Ada", label="Who is greeted", maximum=20)
    speed = param("speed", 1.0, minimum=0.5, maximum=2)
    values = param("values", [1, 2], type=list)

    def construct(self):
        print(self.name, self.speed, self.values, param("language", "en", choices=["en", "de"]))
        self.wait()
"""


def _rendered(zygote: Zygote, folder: Path, code: str = _SCENE, **params: Any) -> str:
    outcome = zygote.run(folder, render_job(code, params=json.dumps(params)))
    assert outcome.result["type"] == "done", outcome.result
    return "".join(report["text"] for report in outcome.of_type("output")).strip()


def _refused(zygote: Zygote, folder: Path, code: str = _SCENE, **params: Any) -> dict[str, Any]:
    outcome = zygote.run(folder, check_job(code, params=json.dumps(params)))
    assert outcome.result["type"] == "failed", outcome.result
    found: dict[str, Any] = outcome.result["finding"]
    assert found["kind"] == "scene:param"
    return found


def test_a_scene_gets_what_it_is_given_or_its_defaults(zygote: Zygote, tmp_path: Path) -> None:
    assert _rendered(zygote, tmp_path) == "Ada 1.0 [1, 2] en"


def test_a_scene_gets_given_values(zygote: Zygote, tmp_path: Path) -> None:
    given: dict[str, Any] = {"name": "Gödel", "speed": 2, "values": [{"x": 1}], "language": "de", "unused": 1}
    assert _rendered(zygote, tmp_path, **given) == "Gödel 2.0 [{'x': 1}] de"


def test_a_scene_that_declares_nothing_ignores_parameters(zygote: Zygote, tmp_path: Path) -> None:
    code = 'from manim import *\nclass Demo(Scene):\n    def construct(self):\n        print("no")\n'
    assert _rendered(zygote, tmp_path, code, name="Ada") == "no"


def test_a_module_can_declare_parameters(zygote: Zygote, tmp_path: Path) -> None:
    code = (
        "from manim import *\nimport scenepress_scene\nCOUNT = scenepress_scene.param('count', 3)\n"
        "class Demo(Scene):\n    def construct(self):\n        print(COUNT)\n"
    )
    assert _rendered(zygote, tmp_path, code, count=5) == "5"
    assert zygote.run(tmp_path, list_job(code)).result["names"] == ["Demo"]


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"name": 7}, "The parameter name must be a text, not 7."),
        ({"name": "x" * 21}, "The parameter name must be of a length at most 20, not "),
        ({"speed": 3}, "The parameter speed must be at least 0.5 and at most 2, not 3."),
        ({"speed": True}, "The parameter speed must be a number, not true."),
        ({"values": {}}, "The parameter values must be a list, not {}."),
    ],
)
def test_a_value_that_breaks_a_rule_is_named(
    zygote: Zygote, tmp_path: Path, given: dict[str, Any], rule: str
) -> None:
    found = _refused(zygote, tmp_path, **given)
    assert found["message"].startswith(rule)
    (name,) = given
    line = next(number for number, text in enumerate(_SCENE.split("\n"), 1) if f'"{name}"' in text)
    assert found["line"] == line
    assert found["hint"] == f"Give another value for `{name}`, or change what the scene declares."


def test_a_value_that_is_no_choice_is_named(zygote: Zygote, tmp_path: Path) -> None:
    found = _refused(zygote, tmp_path, language="fr")
    assert found["message"] == 'The parameter language must be one of "en", "de", not "fr".'
    assert found["line"] == 11


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("param('a b', 1)", 'The name of a parameter is a Python identifier, not "a b".'),
        (
            "param('a', 1, type=complex)",
            "The type of the parameter a is str, int, float, bool, list or dict.",
        ),
        ("param('a', 5, maximum=4)", "The default of the parameter a must be at most 4, not 5."),
        ("param('a', 5, maximum='x')", 'The bounds of the parameter a are numbers, not "x".'),
    ],
)
def test_a_wrong_declaration_is_an_error(
    zygote: Zygote, tmp_path: Path, declaration: str, message: str
) -> None:
    code = f"from manim import *\nfrom scenepress_scene import param\n{declaration}\nclass Demo(Scene): ...\n"
    found = _refused(zygote, tmp_path, code)
    assert (found["message"], found["line"]) == (message, 3)


_DECLARED = [
    ("name", "string", '"Ada"', "Who is greeted", None, 20, None),
    ("speed", "number", "1.0", None, 0.5, 2, None),
    ("values", "array", "[1, 2]", None, None, None, None),
    ("language", "string", '"en"', None, None, None, '["en", "de"]'),
]


@pytest.mark.parametrize("job", [check_job(_SCENE), read_job(_SCENE)], ids=["run", "read"])
def test_a_check_tells_what_a_scene_declares(zygote: Zygote, tmp_path: Path, job: dict[str, Any]) -> None:
    outcome = zygote.run(tmp_path, job)
    declared = [param for report in outcome.of_type("params") for param in report["params"]]
    assert [tuple(param.values()) for param in declared] == _DECLARED
    assert outcome.result["type"] in ("checked", "read")
    assert outcome.result.get("findings", []) == []


def test_a_failed_check_tells_what_was_declared_before(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, check_job(_SCENE, params='{"speed": 9}'))
    names = [param["name"] for report in outcome.of_type("params") for param in report["params"]]
    assert names == ["name", "speed"]
