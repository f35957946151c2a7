"""Dry runs: the end of each play is that of a render, and what would fail is reported as it would fail."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from client import Zygote, check_job, render_job
from fidelity.corpus import bench_scenes, documented, own_scenes
from fidelity.dry import DryBench
from sources import scene

_OWN = [
    "Shapes",
    "Words",
    "Chance",
    "Solid",
    "Moving",
    "Sections",
    "Heard",
    "Timed",
    "Traced",
    "Numbers",
    "Smooth",
]
_DOCUMENTED = [
    "animation.indication:Indications",
    "animation.speedmodifier:SpeedModifierUpdaterExample2",
    "animation.transform_matching_parts:MatchingEquationParts",
    "mobject.mobject:NextToUpdater",
    "mobject.vector_field:EndAnimation",
    "utils.rate_functions:RateFunctions1Example",
]


@pytest.fixture(scope="module")
def bench() -> Iterator[DryBench]:
    made = DryBench()
    yield made
    made.close()


@pytest.mark.sampled(6, deep=3)
@pytest.mark.parametrize("name", [*(f"scenes:{name}" for name in _OWN), *_DOCUMENTED])
def test_each_play_ends_as_in_a_render(bench: DryBench, name: str) -> None:
    (example,) = [example for example in own_scenes() + documented() if example.name == name]
    assert bench.compare(example).difference == ""


@pytest.mark.parametrize("part", range(8))
@pytest.mark.sampled(8, deep=8)
@pytest.mark.deep
def test_each_play_of_many_examples_ends_as_in_a_render(bench: DryBench, part: int) -> None:
    examples = (own_scenes() + bench_scenes() + documented()[::9])[part::8]
    found = {example.name: bench.compare(example).difference for example in examples}
    assert {name: difference for name, difference in found.items() if difference} == {}


_MOVE = "\nself.add(d)\nself.play(s.animate.shift(UP), run_time=3)"
_OWN_PARTS = """
class Own(Animation):
    def interpolate_mobject(self, alpha): self.mobject.rotate(0.1)
class Ticking(Dot):
    n = 0
    def tick(self):
        self.n += 1
        return self.n
class Moving(Dot):
    def update(self, dt=0, recursive=True):
        return self.shift(0.1 * RIGHT)
count = [0]
def bump():
    count[0] += 1
    return count[0]
_to = Scene.update_to_time
def update_to_time(self, t): print("step"); _to(self, t)
"""
_WATCH = """
import scene_renderer.job.stepping as _stepping
_stepping._is_changed = lambda kind: False
Scene.update_to_time = update_to_time
s, v, l, n = Square(), ValueTracker(), [], iter(range(99))
"""


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("self.play(Create(Circle()), run_time=3)", 3),
        ("self.play(*[FadeIn(Square()) for _ in range(3)], lag_ratio=0.5, run_time=3)", 3),
        ("d = always_redraw(lambda: Dot(s.get_center()))" + _MOVE, 3),
        ("d = Dot().add_updater(lambda m: m.next_to(s, UP))" + _MOVE, 3),
        ("d = Dot().add_updater(lambda m: m.move_to(v.get_value() * RIGHT + s.get_top()))" + _MOVE, 3),
        ("self.wait(3)", 0),
        ("d = Dot().add_updater(lambda m, dt: m.shift(dt * RIGHT))" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: m.shift(0.1 * RIGHT))" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: m.move_to(np.random.rand(3)))" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: l.append(1))" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: m.set_x(next(n)))" + _MOVE, 30),
        ("d = TracedPath(s.get_center)" + _MOVE, 30),
        ("def see(m):\n    self.seen = 1\nd = Dot().add_updater(see)" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: m.move_to(np.random.random(3)))" + _MOVE, 30),
        ("d = Ticking().add_updater(lambda m: m.tick())" + _MOVE, 30),
        ("d = Ticking()\nd.add_updater(lambda m: m.set_x(d.tick()))" + _MOVE, 30),
        ("d = Moving()" + _MOVE, 30),
        ("d = always(Dot().shift, 0.1 * RIGHT)" + _MOVE, 30),
        ("d = always(Dot().next_to, s)" + _MOVE, 3),
        ("d = Dot().add_updater(lambda m: m.set_x(sum(bump() for _ in range(2))))" + _MOVE, 30),
        ("d = Dot().add_updater(lambda m: m.set_x(sum([x * 2 for x in range(2)])))" + _MOVE, 3),
        ("d = Dot().add_updater(lambda m, f=bump: m.set_x(f()))" + _MOVE, 30),
        ("self.play(UpdateFromFunc(s, lambda m: m.rotate(0.1)), run_time=3)", 30),
        ("self.play(Own(s), run_time=3)", 30),
        ("self.wait_until(lambda: self.time > 2.95, max_time=9)", 30),
    ],
)
def test_only_plays_that_depend_on_each_frame_go_through_all(
    zygote: Zygote, tmp_path: Path, body: str, steps: int
) -> None:
    outcome = zygote.run(tmp_path, check_job(scene(_WATCH + body, above=_OWN_PARTS)))
    assert outcome.result["type"] == "checked", outcome.result
    said = "".join(report["text"] for report in outcome.of_type("output"))
    assert (said.count("step"), outcome.result["frames"]) == (steps, 30)


def test_a_check_reports_what_a_render_reports(zygote: Zygote, tmp_path: Path) -> None:
    source = scene("c = Circle()\nself.play(Create(c))\nself.wait()\nc.shfit(UP)")
    found = []
    for job in (render_job(source), check_job(source)):
        folder = tmp_path / job["kind"]
        folder.mkdir()
        found.append(zygote.run(folder, job).result)
    assert found[0] == found[1]
    assert found[0]["finding"]["play"] == 1


def test_the_plays_and_the_length_are_those_of_the_video(zygote: Zygote, tmp_path: Path) -> None:
    source = scene("self.play(Create(Circle()))\nself.wait(0.55)\nself.add(Dot())")
    outcome = zygote.run(tmp_path, check_job(source))
    assert outcome.result == {"type": "checked", "frames": 15, "seconds": 1.5, "readsPixels": False}
    (report,) = outcome.of_type("plays")
    assert [(play["line"], play["startSeconds"], play["seconds"]) for play in report["plays"]] == [
        (5, 0, 1),
        (6, 1, 0.5),
    ]


def test_a_scene_that_plays_nothing_is_a_second_long(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, check_job(scene("self.add(Circle())")))
    assert (outcome.result["frames"], outcome.result["readsPixels"]) == (10, False)


@pytest.mark.parametrize(
    "body", ["self.camera.get_image()", "self.renderer.get_frame()", "self.camera.pixel_array"]
)
def test_a_scene_that_reads_pixels_is_named(zygote: Zygote, tmp_path: Path, body: str) -> None:
    outcome = zygote.run(tmp_path, check_job(scene(f"self.play(Create(Circle()))\n{body}")))
    assert outcome.result["readsPixels"] is True


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("while True:\n    pass", 6),
        ("while True:\n    try:\n        while True: pass\n    except Exception:\n        pass", 7),
    ],
)
def test_an_endless_scene_ends_with_its_line(zygote: Zygote, tmp_path: Path, body: str, line: int) -> None:
    outcome = zygote.run(tmp_path, check_job(scene(body), cpuSeconds=1))
    if outcome.ended["signal"] == "SIGKILL":  # it has caught the error
        last = outcome.of_type("place")[-1]
        assert abs(last["line"] - line) <= 1
        return
    assert outcome.result["failedBy"] == "limit:time"
    assert re.search("after 1 seconds? of CPU time", outcome.error)
    assert abs(outcome.result["finding"]["line"] - line) <= 1
