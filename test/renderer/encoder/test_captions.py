from pathlib import Path

import pytest

from client import Zygote, render_job
from scene_renderer.encoder.captions import text_of
from scene_renderer.video.frames import Cue
from sources import scene


def test_cues_are_ordered_timed_and_escaped() -> None:
    assert text_of([Cue(3661.0005, 3662.5, "later"), Cue(0, 1.25, "a < b & c --> d")]) == (
        "WEBVTT\n\n"
        "00:00:00.000 --> 00:00:01.250\na &lt; b &amp; c --&gt; d\n\n"
        "01:01:01.000 --> 01:01:02.500\nlater\n"
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\n\n\ntwo", ["one", "two"]),
        ("\r\none\r\n \r\ntwo\r", ["one", "two"]),
        ("nul \0 here", ["nul \ufffd here"]),
        ("WEBVTT", ["WEBVTT"]),
    ],
)
def test_text_cannot_end_its_cue_early(text: str, lines: list[str]) -> None:
    assert text_of([Cue(0, 1, text)]).splitlines()[3:] == lines


@pytest.mark.parametrize("cue", [Cue(1, 1, "no time"), Cue(2, 1, "backwards"), Cue(0, 1, " \n ")])
def test_an_invisible_cue_is_left_out(cue: Cue) -> None:
    assert text_of([cue]) == ""


@pytest.mark.parametrize("end_s", [1e10, 1e300, float("inf")])
def test_an_extreme_end_is_the_latest_that_browsers_read(end_s: float) -> None:
    assert "00:00:00.000 --> 999999:59:59.999" in text_of([Cue(0, end_s, "for ever")])


def test_a_cue_before_the_start_of_the_video_starts_at_zero() -> None:
    assert "00:00:00.000 --> 00:00:01.000" in text_of([Cue(-1, 1, "early")])


def test_a_captions_file_of_the_scene_is_ignored(zygote: Zygote, tmp_path: Path) -> None:
    body = "Path('captions.vtt').write_text('notes')\nself.wait(0.2)"
    assert zygote.run(tmp_path, render_job(scene(body, above="from pathlib import Path"))).length == (2, 0.2)
    assert not (tmp_path / "captions.vtt").exists()


def test_captions_have_the_times_of_the_video(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        self.add_subcaption("first", duration=0.5)
        self.play(Create(Square()), run_time=1)
        self.next_section(skip_animations=True)
        self.play(Create(Circle()), run_time=3, subcaption="skipped")
        self.next_section()
        self.play(Create(Circle()), run_time=2, subcaption="third")
    """
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert outcome.length == (30, 3.0)
    assert (tmp_path / "captions.vtt").read_text() == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\nfirst\n\n00:00:01.000 --> 00:00:03.000\nthird\n"
    )


def test_captions_are_always_utf_8(zygote: Zygote, tmp_path: Path) -> None:
    body = r"self.add_subcaption('half of a character: \ud800'); self.wait(0.2)"
    zygote.run(tmp_path, render_job(scene(body)))
    assert "half of a character: ?" in (tmp_path / "captions.vtt").read_text("utf-8")
