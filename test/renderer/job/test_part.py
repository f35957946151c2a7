"""Renders of some plays: the frames, sound and captions that a render of the whole scene has there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from client import MATERIAL, Zygote, render_job
from fidelity.comparison import Bench
from fidelity.corpus import Example, documented, own_scenes
from sound_file import write_tone
from sources import scene

_NAMES = [
    *(
        f"scenes:{name}"
        for name in ("Shapes", "Solid", "Moving", "Zoomed", "Pictures", "Timed", "Layered", "Traced")
    ),
    "animation.transform_matching_parts:MatchingEquationParts",
    "mobject.mobject:NextToUpdater",
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
self.play(c.animate.shift(random.random() * UP), run_time=0.3)
"""
_FRAMES = (5, 2, 6, 0, 4, 3)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def _part(first: int, last: int | None = None) -> dict[str, Any]:
    return {"part": {"first": first, "last": last}}


def test_frames_of_any_plays_are_those_of_the_whole_scene(bench: Bench) -> None:
    code = scene(_PLAYS, above="import random")
    example = Example("", "Demo", code, size=(128, 72, 10))
    frames = bench._actual(example, seed=7).flat()
    assert len(frames) == sum(_FRAMES)
    for first, last in [(0, 1), (1, 1), (1, 4), (2, None), (3, 4), (5, 5)]:
        start, end = sum(_FRAMES[:first]), sum(_FRAMES[: 6 if last is None else last + 1])
        part = bench._actual(example, seed=7, **_part(first, last))
        assert (part.error, part.flat()) == (None, frames[start:end]), (first, last)


@pytest.mark.deep
@pytest.mark.parametrize("name", _NAMES)
def test_the_last_plays_of_a_scene_are_those_of_a_render(bench: Bench, name: str) -> None:
    (example,) = [one for one in own_scenes() + documented() if one.name == name]
    example = replace(example, size=(256, 144, 10))
    frames = bench._actual(example).flat()
    for first in (1, 2):
        part = bench._actual(example, **_part(first))
        if part.error:
            assert part.error.startswith(f"The scene has no play {first}: it has ")
        else:
            assert part.flat() == frames[-len(part.flat()) :], first


def test_captions_sound_and_plays_are_cut(zygote: Zygote, tmp_path: Path) -> None:
    write_tone(MATERIAL / "part.wav", 0.5, 44_100, 2)
    body = f"""
    self.wait(1)
    self.add_subcaption("over the cut", duration=1.5)
    self.play(Create(Square()), subcaption="before")
    self.wait(1)
    self.add_sound("{MATERIAL / "part.wav"}", time_offset=0.5)
    self.play(FadeIn(Circle()), subcaption="during")
    self.add_subcaption("from the end on", duration=1, offset=-0.25)
    self.wait(1)
    """
    outcome = zygote.run(tmp_path, render_job(scene(body)) | _part(2, 3))
    assert outcome.length == (20, 2.0)
    vtt = (tmp_path / "captions.vtt").read_text()
    assert vtt == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nover the cut\n\n00:00:01.000 --> 00:00:02.000\nduring\n\n"
        "00:00:01.750 --> 00:00:02.000\nfrom the end on\n"
    )
    (plays,) = [report["plays"] for report in outcome.of_type("plays")]
    shown = [(play["shows"], play["startSeconds"], play["seconds"]) for play in plays]
    assert shown == [("wait", 0, 1), ("FadeIn(Circle)", 1, 1)]
    with av.open(str(tmp_path / "video.mp4")) as video:
        samples = np.concatenate([frame.to_ndarray()[0] for frame in video.decode(audio=0)])
    loud = np.flatnonzero(np.abs(samples) > 0.1) / 48_000
    assert (abs(loud[0] - 1.5) < 0.05, abs(loud[-1] - 2) < 0.05) == (True, True)


@pytest.mark.parametrize(
    ("first", "last", "error"),
    [
        (2, None, "The scene has no play 2: it has 2, counted from 0."),
        (0, 5, "The scene has no play 5: it has 2, counted from 0."),
        (1, 2, "The scene has no play 2: it has 2, counted from 0."),
    ],
)
def test_plays_that_a_scene_lacks_are_an_error(
    zygote: Zygote, tmp_path: Path, first: int, last: int | None, error: str
) -> None:
    outcome = zygote.run(tmp_path, render_job(scene("self.wait()\nself.wait()")) | _part(first, last))
    assert (outcome.error, outcome.result["finding"]["kind"]) == (error, "scene:value")


def test_a_scene_that_has_read_pixels_is_drawn_from_its_first_play_only(
    zygote: Zygote, tmp_path: Path
) -> None:
    body = "self.wait()\nself.add(ImageMobject(self.renderer.get_frame()))\nself.wait()"
    outcome = zygote.run(tmp_path, render_job(scene(body)) | _part(1))
    assert outcome.error.startswith("The scene reads the pixels of its camera before play 1")
    assert zygote.run(tmp_path, render_job(scene(body)) | _part(0, 1)).length == (20, 2.0)


def test_a_scene_ends_at_the_play_after_the_part(zygote: Zygote, tmp_path: Path) -> None:
    body = (
        "self.wait()\ntry:\n    self.wait()\nfinally:\n    print('cleaned up')\nself.wait()\nprint('after')"
    )
    outcome = zygote.run(tmp_path, render_job(scene(body)) | _part(0, 1))
    assert outcome.length == (20, 2.0)
    assert [report["text"].strip() for report in outcome.of_type("output")] == ["cleaned up"]
