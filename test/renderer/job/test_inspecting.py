"""Inspections: their pictures are frames of the render, and the scene runs as in a dry run."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from client import Zygote, check_job
from fidelity.comparison import Bench
from fidelity.corpus import Example, bench_scenes, documented, own_scenes
from fidelity.dry import _NOTES
from fidelity.recording import digest
from layout.inspections import Inspector
from sources import scene

_PICTURES_MAX = 120
_NAMES = [
    *(f"scenes:{name}" for name in ("Shapes", "Solid", "Moving", "Zoomed", "Pictures", "Timed", "Layered")),
    *(f"scenes:{name}" for name in ("Traced", "Chance", "Sections", "Painted", "Numbers", "Smooth")),
    "animation.speedmodifier:SpeedModifierUpdaterExample2",
    "animation.transform_matching_parts:MatchingEquationParts",
    "mobject.mobject:NextToUpdater",
]


@pytest.fixture(scope="module")
def inspector() -> Iterator[Inspector]:
    made = Inspector()
    yield made
    made.close()


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def _example(name: str) -> Example:
    (example,) = [one for one in own_scenes() + bench_scenes() + documented() if one.name == name]
    return replace(example, size=(256, 144, 10), still=False)


@pytest.mark.sampled(16, deep=6)
@pytest.mark.parametrize("name", _NAMES)
def test_pictures_are_frames_of_the_render(bench: Bench, inspector: Inspector, name: str) -> None:
    example = _example(name)
    frames = bench._actual(example).flat()
    width, height, fps = example.size
    inspection = inspector.inspect(example.code, example.class_name, widthPx=width, heightPx=height, fps=fps)
    assert len(inspection.pixels) > 1
    for pixels, (_, _, seconds) in zip(inspection.pixels, inspection.places, strict=True):
        assert digest(pixels) == frames[round(seconds * fps)], seconds


@pytest.mark.sampled(16, deep=6)
@pytest.mark.parametrize("name", [*_NAMES, "bench:lessons:Lecture", "bench:algorithms:BubbleSort"])
def test_the_scene_runs_as_in_a_dry_run(
    inspector: Inspector, zygote: Zygote, tmp_path: Path, name: str
) -> None:
    example = _example(name)
    code = example.code + _NOTES
    outcome = zygote.run(tmp_path, check_job(code, example.class_name, fps=10, cpuSeconds=60))
    dry = "".join(report["text"] for report in outcome.of_type("output"))
    said = inspector.inspect(code, example.class_name, fps=10, widthPx=128, heightPx=72).said
    assert _states(said) == _states(dry) != []


def _states(said: str) -> list[str]:
    return [line for line in said.split("\n") if "state" in line]


_PLAYS = """
self.play(Create(Square()), run_time=0.5)
self.wait(0.3)
self.next_section(skip_animations=True)
self.play(FadeIn(Dot()))
self.next_section()
self.play(FadeIn(Circle()), run_time=4)
"""


def test_pictures_have_the_play_line_and_time(inspector: Inspector) -> None:
    inspection = inspector.inspect(scene(_PLAYS.strip()), fps=10)
    assert inspection.places == [
        (0, 5, 0.2),
        (0, 5, 0.4),
        (1, 6, 0.5),
        *((3, 10, pytest.approx(0.7 + index / 10)) for index in (13, 26, 39)),
    ]


def test_a_scene_without_plays_has_one_picture(inspector: Inspector) -> None:
    inspection = inspector.inspect(scene("self.add(Square(fill_opacity=1))"))
    assert inspection.places == [(0, 0, 0)]
    assert inspection.pixels[0][..., :3].max() == 255


def test_many_plays_have_few_pictures(inspector: Inspector) -> None:
    body = "d = Dot()\nfor n in range(700):\n    self.play(d.animate.shift(0.01 * UP), run_time=0.2)"
    inspection = inspector.inspect(scene(body), widthPx=64, heightPx=36)
    assert 60 < len(inspection.places) <= _PICTURES_MAX
    plays = [play for play, _, _ in inspection.places]
    assert plays == sorted(plays)
    assert plays[0] == 0
    assert plays[-1] == 699


@pytest.mark.parametrize(
    ("body", "is_read"),
    [("self.play(FadeIn(Dot()))", False), ("self.play(FadeIn(Dot()))\nself.camera.pixel_array.sum()", True)],
)
def test_reading_pixels_is_noticed(inspector: Inspector, body: str, is_read: bool) -> None:
    assert inspector.inspect(scene(body)).reads_pixels == is_read


def test_mobjects_are_made_and_fail_as_before(inspector: Inspector) -> None:
    body = "import inspect\nprint(Mobject.__init__.__qualname__, inspect.signature(Mobject.__init__))"
    printed = inspector.inspect(scene(body)).said
    assert printed.startswith("Mobject.__init__ (self, color")
    with pytest.raises(AssertionError, match=r"unexpected keyword argument 'colour'"):
        inspector.inspect(scene("Square(colour=RED)"))
