"""Sounds that a request places: at times and at moments of the scene, with captions, as one track."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import pytest

from client import Outcome, Zygote, check_job, render_job
from narrated import captioned, heard, seen, write_bursts

_NEAR_S = 0.04
_CODE = """
from manim import *
from scenepress_scene import cue

class Demo(Scene):
    def construct(self):
        shade = Rectangle(width=15, height=9, stroke_width=0, fill_opacity=1)
        self.add(shade.set_fill(GRAY_E))
        self.wait(1.1)
        self.next_section("middle")
        self.add(shade.set_fill(GRAY_C))
        self.wait(1.2)
        cue("proof")
        self.add(shade.set_fill(WHITE))
        self.add_subcaption("The end", duration=0.5)
        self.wait(0.6)
"""


def _sound(file: str, **changes: Any) -> dict[str, Any]:
    return {"file": file, "atSeconds": None, "atCue": None, "text": None, "words": []} | changes


def _run(
    zygote: Zygote,
    path: Path,
    code: str,
    *audio: dict[str, Any],
    job: Callable[..., dict[str, Any]] = render_job,
    **changes: Any,
) -> Outcome:
    path.chmod(0o755)
    for name in ("files", "job"):
        (path / name).mkdir(exist_ok=True)
        (path / name).chmod(0o755)
    for number, name in enumerate(("a.wav", "b.mp3", "voices/c.ogg")):
        write_bursts(path / "files" / name, 0.9 - 0.2 * number)
    message = job(code, audio=[*audio], fps=30, **changes)
    return zygote.run(path / "job", message, job_files=path / "files")


def test_video_captions_and_sound_of_three_files_line_up(zygote: Zygote, tmp_path: Path) -> None:
    words = [{"text": "Here", "startSeconds": 0.1}, {"text": "it is.", "startSeconds": 0.4}]
    outcome = _run(
        zygote,
        tmp_path,
        _CODE,
        _sound("voices/c.ogg", atCue="proof", text="Here it is.", words=words),
        _sound("a.wav", atSeconds=0, text="The first."),
        _sound("b.mp3", atCue="middle", text="The second."),
    )
    assert outcome.result["type"] == "done", outcome.result
    video = tmp_path / "job/video.mp4"
    sounds, pictures = heard(video), seen(video)
    assert sounds == pytest.approx(pictures[:3], abs=_NEAR_S)
    assert sounds == pytest.approx([0, 1.1, 2.3], abs=_NEAR_S)
    captions = captioned(tmp_path / "job/captions.vtt")
    assert [text for _, _, text in captions] == ["The first.", "The second.", "The end", "Here it is."]
    begins = [begin for begin, _, _ in captions]
    assert begins == pytest.approx([sounds[0], sounds[1], sounds[2], sounds[2] + 0.1], abs=_NEAR_S)
    assert captions[0][1] == pytest.approx(0.9, abs=_NEAR_S)
    with av.open(str(video)) as container:
        assert [stream.type for stream in container.streams] == ["video", "audio"]


def test_a_caption_and_a_given_cue_are_moments(zygote: Zygote, tmp_path: Path) -> None:
    outcome = _run(
        zygote,
        tmp_path,
        _CODE,
        _sound("a.wav", atCue="The end"),
        _sound("b.mp3", atCue="given"),
        params='{"cues": {"given": 0.5}}',
    )
    assert outcome.result["type"] == "done", outcome.result
    assert heard(tmp_path / "job/video.mp4") == pytest.approx([0.5, 2.3], abs=_NEAR_S)


def test_skipped_plays_move_moments(zygote: Zygote, tmp_path: Path) -> None:
    code = _CODE.replace(
        "self.wait(1.1)",
        'self.wait(1.1)\n        self.next_section("x", skip_animations=True)\n        self.wait(2)',
    )
    outcome = _run(zygote, tmp_path, code, _sound("a.wav", atCue="middle"), _sound("b.mp3", atCue="proof"))
    assert outcome.result["type"] == "done", outcome.result
    assert heard(tmp_path / "job/video.mp4") == pytest.approx([1.1, 2.3], abs=_NEAR_S)


def test_what_lacks_is_named(zygote: Zygote, tmp_path: Path) -> None:
    found = _run(zygote, tmp_path, _CODE, _sound("a.wav", atCue="prof")).result["finding"]
    assert found["message"] == (
        "There is no cue 'prof' for the sound a.wav. There are The end, autocreated, middle, proof."
    )
    assert (found["kind"], found["candidates"]) == (
        "scene:lookup",
        ["The end", "autocreated", "middle", "proof"],
    )
    outcome = _run(zygote, tmp_path, _CODE, _sound("none.wav", atSeconds=1))
    assert outcome.error == "There is no sound none.wav."


def test_a_check_finds_what_lacks(zygote: Zygote, tmp_path: Path) -> None:
    for number, (sound, told) in enumerate(
        (
            (_sound("a.wav", atCue="proof"), None),
            (_sound("a.wav", atCue="prof"), "There is no cue 'prof' for the sound a.wav."),
            (_sound("none.wav", atSeconds=1), "There is no sound none.wav."),
        )
    ):
        path = tmp_path / str(number)
        path.mkdir()
        outcome = _run(zygote, path, _CODE, sound, job=check_job)
        assert outcome.result["type"] == ("checked" if told is None else "failed"), outcome.result
        assert told is None or outcome.error.startswith(told)
