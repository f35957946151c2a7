"""What findings say: the name, the line, when, and what to do."""

import pytest

from layout.inspections import Inspector
from sources import scene

# The first line of `construct` in the source of a scene.
_FIRST = 5


def _only(inspector: Inspector, body: str, base: str = "Scene") -> dict[str, object]:
    (found,) = inspector.inspect(scene(body, base=base)).findings
    return found


def test_a_finding_says_what_where_and_when(inspector: Inspector) -> None:
    found = _only(
        inspector, 'note = Text("edge").shift(6.9 * RIGHT)\nself.play(FadeIn(note))\nself.wait()\nself.wait()'
    )
    assert found["message"] == "`note` leaves the frame at the right."
    assert found["hint"] == "Move `note` left by 0.8."
    assert (found["line"], found["play"]) == (_FIRST, 0)
    assert found["layout"] == {
        "mobject": "note",
        "box": pytest.approx({"left": 6.2, "right": 7.6, "bottom": -0.3, "top": 0.3}, abs=0.1),
        "seconds": 1,
    }


@pytest.mark.parametrize(
    ("body", "name", "line"),
    [
        (
            'for word in ("a" * 70, "b"):\n    row = Text(word).shift(len(word) * DOWN / 40)\n'
            "    self.add(row)\n    self.wait()\n    last = row",
            "row",
            1,
        ),
        ('names = [Text("a" * 70)]\nself.add(*names)\nself.wait()', "names[0]", 0),
        ('self.title = Text("a" * 70)\nself.add(self.title)\nself.wait()', "self.title", 0),
        ('g = VGroup()\nfor n in range(1):\n    g.add(Text("a" * 70))\nself.add(g)\nself.wait()', "g[0]", 2),
        ('g = {"long": Text("a" * 70)}\nself.add(*g.values())\nself.wait()', "g['long']", 0),
        ('self.add(\n    Text(\n        "a" * 70\n    )\n)\nself.wait()', "Text", 1),
        ('t = Text("a" * 9)\nself.add(t)\nself.wait()\nself.play(t.animate.scale(6))\nself.wait()', "t", 3),
    ],
)
def test_names_and_lines_are_those_of_the_author(
    inspector: Inspector, body: str, name: str, line: int
) -> None:
    found = _only(inspector, body)
    assert (found["layout"]["mobject"], found["line"]) == (name, _FIRST + line)  # type: ignore[index]


def test_a_place_that_is_free_is_proposed(inspector: Inspector) -> None:
    body = (
        "line = NumberLine([0, 9], length=9, include_numbers=True)\nself.add(line)\nself.wait()\n"
        'note = Text("between two and seven", font_size=30).next_to(line.n2p(4.5), DOWN, buff=0.25)\n'
        "self.play(Write(note))\nself.wait()"
    )
    assert _only(inspector, body)["hint"] == "Move `note` down by 0.4."


def test_a_ring_around_a_part_is_to_be_smaller(inspector: Inspector) -> None:
    body = (
        't = MathTex("a", "+", "b")\nself.add(t)\nring = Circle(color=RED).surround(t[0])\n'
        "self.play(Create(ring))\nself.wait()"
    )
    hint = "Make `ring` smaller, or leave more room around what it marks."
    assert _only(inspector, body)["hint"] == hint


@pytest.mark.parametrize(
    "body",
    [
        't = Text("a" * 70)  # layout: ok\nself.add(t)\nself.wait()',
        't = Text(\n    "a" * 70\n)  # layout: ok\nself.add(t)\nself.wait()',
        't = Text("a" * 9)\nself.add(t)\nself.wait()\n'
        "self.play(t.animate.scale(6))  # layout: ok\nself.wait()",
        "self.wait(3)  # layout: ok\nself.add(Dot())\nself.wait()",
    ],
)
def test_a_comment_exempts_a_line(inspector: Inspector, body: str) -> None:
    assert inspector.inspect(scene(body)).findings == []


def test_similar_faults_are_one_finding(inspector: Inspector) -> None:
    body = (
        "labels = VGroup()\nfor n in range(5):\n"
        '    label = Text(f"name {n}", font_size=8).shift(n * UP)\n    labels.add(label)\n'
        "self.play(FadeIn(labels))\nself.wait()\nself.play(labels.animate.shift(DOWN))\nself.wait()"
    )
    found = _only(inspector, body)
    assert found["line"] == _FIRST + 2
    assert str(found["message"]).startswith("`labels[0]` and 4 others are too small to be read: their ")


def test_a_fault_that_does_not_last_is_none(inspector: Inspector) -> None:
    body = (
        'a, b = Text("one word"), Text("another")\nself.play(FadeIn(a))\n'
        "self.play(FadeIn(b))\nself.play(FadeOut(a))\nself.wait()"
    )
    assert inspector.inspect(scene(body)).findings == []


def test_there_are_at_most_twenty_by_line(inspector: Inspector) -> None:
    lines = [f't{n} = Text("x" * 80).shift({n / 5 - 3} * UP)\nself.add(t{n})' for n in range(30)]
    findings = inspector.inspect(scene("\n".join([*lines, "self.wait()"]))).findings
    assert len(findings) == 20
    assert [found["line"] for found in findings] == sorted(found["line"] for found in findings)
