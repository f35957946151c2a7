import os
from pathlib import Path

import pytest
from PIL import Image

from client import Zygote, inspect_job, render_job
from sound_file import write_tone
from sources import SQUARE, scene


def test_a_video_is_decoded_and_gets_a_thumbnail(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=1280, heightPx=720))
    outcome = zygote.run(tmp_path, inspect_job(1280, 720))
    assert outcome.result == {
        "type": "inspected",
        "frames": 20,
        "seconds": 2.0,
        "widthPx": 1280,
        "heightPx": 720,
    }
    with Image.open(tmp_path / "thumbnail.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (640, 360))
        red, green, blue = image.convert("RGB").resize((1, 1), box=(310, 170, 330, 190)).getpixel((0, 0))  # type: ignore[misc]
    assert abs(red - 0xFC) < 8
    assert abs(green - 0x62) < 8
    assert abs(blue - 0x55) < 8


def test_a_narrow_video_keeps_its_width(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=72, heightPx=128))
    zygote.run(tmp_path, inspect_job(72, 128))
    with Image.open(tmp_path / "thumbnail.jpg") as image:
        assert image.size == (72, 128)


@pytest.mark.parametrize(
    "body",
    [
        "self.wait(3)\nself.add(Dot())\nself.wait(0.1)\nself.clear()\nself.wait(3)",  # one frame of 61
        "self.play(FadeIn(Square()))\nself.play(*[FadeOut(m) for m in self.mobjects])",
        "self.camera.background_color = WHITE\nself.add(Line(color=BLACK, stroke_width=1))\nself.wait(3)",
    ],
)
def test_the_thumbnail_is_not_blank_when_the_video_is_not(zygote: Zygote, tmp_path: Path, body: str) -> None:
    zygote.run(tmp_path, render_job(scene(body), widthPx=854, heightPx=480))
    assert zygote.run(tmp_path, inspect_job(854, 480)).result["type"] == "inspected"
    with Image.open(tmp_path / "thumbnail.jpg") as image:
        low, high = image.convert("L").getextrema()
    assert isinstance(low, int | float)
    assert high - low > 30  # type: ignore[operator]


def test_a_blank_video_gets_a_thumbnail_too(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(scene("self.wait()")))
    assert zygote.run(tmp_path, inspect_job()).result["type"] == "inspected"
    assert (tmp_path / "thumbnail.jpg").exists()


def test_a_damaged_video_is_a_failure(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=854, heightPx=480))
    data = (tmp_path / "video.mp4").read_bytes()
    for damaged in (
        data[: len(data) // 2],
        data[:-200],
        data[:2000],
        b"",
        b"#EXTM3U\n/etc/passwd\n",
        b"ffconcat",
    ):
        (tmp_path / "video.mp4").write_bytes(damaged)
        error = zygote.run(tmp_path, inspect_job(854, 480)).error
        assert error.startswith("The video ")
        assert "asked for" not in error
        assert not (tmp_path / "thumbnail.jpg").exists()


def test_what_is_not_a_regular_file_is_refused(zygote: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    assert zygote.run(tmp_path, inspect_job()).result["type"] == "failed"
    path.symlink_to("/etc/passwd")
    assert zygote.run(tmp_path, inspect_job()).result["type"] == "failed"
    path.unlink()
    os.mkfifo(path)
    assert "regular file" in zygote.run(tmp_path, inspect_job()).error
    path.unlink()
    path.mkdir()
    assert zygote.run(tmp_path, inspect_job()).result["type"] == "failed"


def test_limits_hold(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    error = zygote.run(tmp_path, inspect_job(frames=19)).error
    assert error == "The video is longer than the limit of 19 frames."
    data = (tmp_path / "video.mp4").read_bytes()
    (tmp_path / "video.mp4").write_bytes(data + bytes(3 << 20))
    error = zygote.run(tmp_path, inspect_job(outputBytes=3 << 20)).error
    assert error == "The video is larger than the limit of 3 MiB."


def test_a_video_of_another_size_or_rate_is_refused(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    error = zygote.run(tmp_path, inspect_job(64, 36)).error
    assert error == "The video is 128 by 72 pixels large, not 64 by 36 as asked for."
    error = zygote.run(tmp_path, inspect_job(fps=60)).error
    assert error == "The video has 10 frames per second, not 60 as asked for."


@pytest.mark.parametrize("fps", [1, 7, 59, 120, 1001, 2000, 4999, 5000, 36_000])
@pytest.mark.parametrize("sound", [False, True], ids=["silent", "with sound"])
def test_every_rate_is_what_was_asked_for(zygote: Zygote, tmp_path: Path, fps: int, *, sound: bool) -> None:
    write_tone(tmp_path / "tone.wav", 1, 44_100, 2)
    body = f"self.add(Square())\nself.wait(1 / {fps})\nself.wait(2.5 / {fps})"
    body = f"self.add_sound('tone.wav')\n{body}" if sound else body
    done = zygote.run(tmp_path, render_job(scene(body), fps=fps)).result
    assert done["type"] == "done"
    inspected = zygote.run(tmp_path, inspect_job(fps=fps)).result
    assert (inspected["type"], inspected["frames"]) == ("inspected", done["frames"])


def test_the_thumbnail_follows_no_link(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "thumbnail.jpg").symlink_to(tmp_path / "target")
    assert zygote.run(tmp_path, inspect_job()).result["type"] == "inspected"
    assert (tmp_path / "target").read_text() == "untouched"
    assert not (tmp_path / "thumbnail.jpg").is_symlink()
