"""Options of `scenepress render` only; render-formats.test.ts tests the formats themselves."""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client import Zygote, render_job
from sources import scene
from videos import streams

WHOLE = {
    "format": "mp4",
    "transparent": False,
    "firstPlay": 0,
    "lastPlay": -1,
    "sections": False,
    "portrait": False,
    "config": {},
    "file": None,
}


def local_job(body: str, *, above: str = "", **output: Any) -> dict[str, Any]:
    return render_job(scene(body, above=above), local=WHOLE | output)


def size_of(folder: Path) -> tuple[int, int]:
    video, *_ = streams(folder / "video.mp4")
    return video["width"], video["height"]


@pytest.fixture(scope="module")
def local() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    assert zygote.close() == 0


def test_a_local_scene_sets_its_size_and_a_served_one_does_not(local: Zygote, tmp_path: Path) -> None:
    above = "config.pixel_width, config.pixel_height, config.frame_rate = 64, 36, 4.6"
    outcome = local.run(tmp_path, local_job("self.wait(1)", above=above))
    assert (size_of(tmp_path), outcome.length) == ((64, 36), (5, 1.0))
    served = local.run(tmp_path, render_job(scene("self.wait(1)", above=above)))
    assert (size_of(tmp_path), served.length) == ((128, 72), (10, 1.0))
    warnings = "".join(report["text"] for report in served.of_type("output"))
    assert "config.pixel_width is ignored: the request sets it." in warnings


def test_settings_of_manim_cfg_are_those_of_the_scene(local: Zygote, tmp_path: Path) -> None:
    body = "assert (config.frame_width, config.seed) == (4, 7), config.seed\nself.wait(0.1)"
    config = {"frame_width": "4", "seed": "7", "background_color": "RED", "unknown": "x"}
    assert local.run(tmp_path, local_job(body, config=config)).length == (1, 0.1)


def test_a_job_names_the_file_of_its_scene(local: Zygote, tmp_path: Path) -> None:
    body = 'assert (__file__[-9:], __name__) == ("/proof.py", "proof"), __file__\nself.wait(0.1)'
    assert local.run(tmp_path, local_job(body, file="lessons/proof.py")).length == (1, 0.1)
    unnamed = 'assert __file__.endswith("/scene.py"), __file__\nself.wait(0.1)'
    assert local.run(tmp_path, local_job(unnamed)).length == (1, 0.1)


def test_plays_before_and_after_a_range_are_left_out(local: Zygote, tmp_path: Path) -> None:
    body = "for seconds in (1, 2, 3, 4): self.wait(seconds)"
    assert local.run(tmp_path, local_job(body, firstPlay=1, lastPlay=2)).length == (50, 5.0)
    assert local.run(tmp_path, local_job(body, firstPlay=3)).length == (40, 4.0)


def test_a_picture_skips_the_plays(local: Zygote, tmp_path: Path) -> None:
    job = local_job("self.play(Create(Square()), run_time=9999)", format="png", transparent=True)
    assert local.run(tmp_path, job).length == (1, 0.1)
    assert (tmp_path / "output.png").read_bytes()[:4] == b"\x89PNG"


def test_sound_is_in_other_formats_and_sections_have_no_empty_videos(local: Zygote, tmp_path: Path) -> None:
    body = """
        import wave
        with wave.open("ding.wav", "wb") as file:
            file.setparams((1, 2, 8000, 800, "NONE", ""))
            file.writeframes(bytes(1600))
        self.add_sound("ding.wav")
        self.next_section("skipped", skip_animations=True)
        self.wait(1)
        self.next_section("über/../ all")
        self.wait(1)
    """
    assert local.run(tmp_path, local_job(body, format="webm", sections=True)).length == (10, 1.0)
    assert b"A_OPUS" in (tmp_path / "output.webm").read_bytes()
    with tarfile.open(tmp_path / "sections.tar") as archive:
        assert archive.getnames() == ["Demo_0001_über-all.webm", "Demo.json"]
