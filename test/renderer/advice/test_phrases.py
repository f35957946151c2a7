"""What is said about errors whose messages don't say what to write."""

from typing import Any

import manim
import pytest
from manim import Scene

from scene_renderer.advice.advice import Advice
from scene_renderer.advice.causes import advise
from scene_renderer.advice.fixes import fix_of
from scene_renderer.advice.place import place_of


class _Silent(Scene):
    """A scene that draws nothing."""

    def play(self, *args: Any, **kwargs: Any) -> None:
        self.compile_animation_data(*args, **kwargs)
        self.begin_animations()


def _advice(code: str) -> Advice:
    names = {**vars(manim), "self": _Silent()}
    try:
        exec(compile(code, "scene.py", "exec"), names)
    except Exception as error:
        return advise(error, place_of(error, "scene.py", code), code)
    raise AssertionError("no error was raised")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("Dot().next_to(Dot(), BELOW)", "use `DOWN`"),
        ("Dot().to_edge('UP')", "without quotes: use `UP`"),
        ("Brace(Dot(), direction='DOWN')", "without quotes: use `DOWN`"),
        ("self.play(Create(Dot()), rate_func='linear')", "without quotes: use `linear`"),
        ("Text('a', weight='Bold')", "use `BOLD`"),
        ("Text(5)", "`str(…)`"),
        ("VGroup(Dot(), 'text')", "`Text('…')`"),
        ("'text'.shift(UP)", "`Text('…')`"),
        ("Graph([1, 2], [(1, 3)])", "not among the vertices"),
        ("Table([[1, 2]])", "`IntegerTable`"),
        ("self.wait(0)", "remove the call of `wait`"),
        ("None.shift(UP)", "nothing was assigned"),
        ("self.add(Dot()).shift(UP)", "returns the scene"),
        ("always_redraw(Dot())", "`always_redraw(lambda: …)`"),
        ("(1, 2)()", "remove the parentheses"),
        ("Dot().move_to(1, 2)", "`[1, 2, 0]`"),
        ("Axes(x_range=10)", "`[0, 10, 1]`"),
        ("DecimalNumber('3')", "without quotes"),
        ("VGroup(Dot(), Dot()).get_start()", "`group[0]`"),
        ("g = VGroup(VGroup(Dot()))\ng[0][1]", "This VGroup has 1 part"),
        ("class A(scene): pass", "`Scene`"),
    ],
)
def test_says_what_to_write(code: str, hint: str) -> None:
    assert hint in (_advice(code).hint or "")


def test_does_not_take_any_text_for_a_name() -> None:
    assert "quotes" not in (_advice("'Circle'()").hint or "")
    assert "quotes" not in (_advice("Tex('Circle').to_edge('north')").hint or "")


def test_replaces_quotes() -> None:
    code = "Dot().to_edge('UP')"
    found = _advice(code)
    assert found.span is not None
    fix = fix_of(found, found.span, code)
    assert fix == {"line": 1, "column": 15, "endColumn": 19, "text": "UP"}
