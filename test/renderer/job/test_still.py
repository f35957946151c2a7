"""Stills: the frame that a render shows there."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from client import Zygote, render_job
from fidelity.comparison import Bench
from fidelity.corpus import Example, documented, own_scenes
from fidelity.recording import digest
from sources import scene

_NAMES = [
    *(
        f"scenes:{name}"
        for name in ("Shapes", "Solid", "Moving", "Zoomed", "Pictures", "Timed", "Layered", "Traced")
    ),
    "animation.speedmodifier:SpeedModifierUpdaterExample2",
    "animation.transform_matching_parts:MatchingEquationParts",
    "mobject.mobject:NextToUpdater",
    "mobject.types.image_mobject:ImageInterpolationEx",
]
_PLAYS = """
self.play(Create(Square()), run_time=0.5)
self.wait(0.3)
c = Circle().add_updater(lambda m, dt: m.shift(dt * RIGHT))
self.add(c)
self.wait_until(lambda: self.time > 1.2, max_time=3)
self.next_section(skip_animations=True)
self.play(FadeIn(Dot()))
self.next_section()
self.play(c.animate.scale(2), run_time=0.4)
"""


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def _still(zygote: Zygote, folder: Path, job: Any, at: str, value: float = 0) -> Any:
    folder.mkdir()
    outcome = zygote.run(folder, job | {"still": {"at": at, "value": value}})
    assert outcome.result["type"] == "done", outcome.result
    picture = Image.open(io.BytesIO((folder / "output.png").read_bytes())).convert("RGBA")
    return np.asarray(picture)


@pytest.mark.sampled(8, deep=2)
@pytest.mark.parametrize("name", _NAMES)
def test_a_still_is_the_frame_of_a_render(bench: Bench, zygote: Zygote, tmp_path: Path, name: str) -> None:
    (example,) = [one for one in own_scenes() + documented() if one.name == name]
    example = replace(example, size=(256, 144, 10), still=False)
    frames = bench._actual(example).flat()
    width, height, fps = example.size
    job = render_job(example.code, example.class_name, widthPx=width, heightPx=height, fps=fps)
    wanted = sorted({0, 1, len(frames) // 3, 2 * len(frames) // 3, len(frames) - 1})
    for index in (index for index in wanted if index < len(frames)):
        picture = _still(zygote, tmp_path / f"{index}", job, "seconds", index / fps)
        assert digest(picture) == frames[index], index
    assert digest(_still(zygote, tmp_path / "last", job, "last")) == frames[-1]


def test_plays_waits_conditions_and_skipped_sections(bench: Bench, zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(scene(_PLAYS.strip()))
    frames = bench._actual(Example("", "Demo", job["code"], size=(128, 72, 10))).flat()
    assert len(frames) == 5 + 2 + 6 + 4
    for index, frame in enumerate(frames):
        assert digest(_still(zygote, tmp_path / f"{index}", job, "seconds", index / 10)) == frame, index
    for play, last in {0: 4, 1: 6, 2: 12, 4: 16}.items():
        assert digest(_still(zygote, tmp_path / f"play{play}", job, "play", play)) == frames[last], play
    assert digest(_still(zygote, tmp_path / "last", job, "last")) == frames[-1]


@pytest.mark.parametrize(("at", "value"), [("last", 0), ("seconds", 0), ("seconds", 0.9)])
def test_a_scene_that_plays_nothing_is_shown_for_a_second(
    zygote: Zygote, tmp_path: Path, at: str, value: float
) -> None:
    picture = _still(zygote, tmp_path / "a", render_job(scene("self.add(Square(fill_opacity=1))")), at, value)
    assert picture.max() == 255


@pytest.mark.parametrize(
    ("body", "at", "value", "error"),
    [
        ("self.wait()", "seconds", 1, "The video has no frame at 1 s: it is 1 s long."),
        ("self.wait()", "play", 1, "The scene has no play 1: it has 1, counted from 0."),
        ("self.add(Dot())", "play", 0, "The scene has no play 0: it has 0, counted from 0."),
        ("self.add(Dot())", "seconds", 1, "The video has no frame at 1 s: it is 0 s long."),
    ],
)
def test_a_frame_that_is_not_there_is_an_error(
    zygote: Zygote, tmp_path: Path, body: str, at: str, value: float, error: str
) -> None:
    outcome = zygote.run(tmp_path, render_job(scene(body)) | {"still": {"at": at, "value": value}})
    assert (outcome.error, outcome.result["finding"]["kind"]) == (error, "scene:value")


def test_a_frame_in_setup_or_with_plays_at_the_end_is_drawn(zygote: Zygote, tmp_path: Path) -> None:
    code = scene("self.wait()").replace(
        "    def construct", "    def setup(self):\n        self.wait()\n\n    def construct"
    )
    code += "\n    def tear_down(self):\n        self.wait()\n"
    for number, (at, value) in enumerate(
        [("seconds", 0.5), ("seconds", 1.5), ("play", 0), ("play", 1), ("last", 0)]
    ):
        _still(zygote, tmp_path / f"{number}", render_job(code), at, value)


def test_a_scene_that_reads_pixels_has_no_stills(zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(scene("self.wait()\nself.add(ImageMobject(self.renderer.get_frame()))\nself.wait()"))
    outcome = zygote.run(tmp_path, job | {"still": {"at": "last", "value": 0}})
    assert outcome.error.startswith("The scene reads the pixels of its camera")


def test_nothing_runs_after_the_frame(zygote: Zygote, tmp_path: Path) -> None:
    body = "try:\n    self.wait(2)\nexcept Exception:\n    self.wait()\nprint('after')"
    job = render_job(scene(body)) | {"still": {"at": "seconds", "value": 0.5}}
    outcome = zygote.run(tmp_path, job)
    assert outcome.result["type"] == "done"
    assert outcome.of_type("output") == []
