import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from client import Zygote, inspect_job, render_job
from scene_renderer.inspection import inspection, mp4_boxes
from scene_renderer.scene_error import SceneError
from scene_renderer.video import mp4
from sound_file import write_tone
from sources import SQUARE, scene
from videos import boxes, contents


def test_a_video_is_decoded_and_gets_a_thumbnail(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=1280, heightPx=720))
    outcome = inspector.run(tmp_path, inspect_job(1280, 720))
    assert outcome.result == {"type": "inspected", "frames": 20, "seconds": 2.0}
    with Image.open(tmp_path / "published-thumbnail.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (640, 360))
        centre = np.asarray(image.convert("RGB").resize((1, 1), box=(310, 170, 330, 190)))
    red, green, blue = map(int, centre[0, 0])
    assert abs(red - 0xFC) < 8
    assert abs(green - 0x62) < 8
    assert abs(blue - 0x55) < 8


def test_a_narrow_video_keeps_its_width(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=72, heightPx=128))
    inspector.run(tmp_path, inspect_job(72, 128))
    with Image.open(tmp_path / "published-thumbnail.jpg") as image:
        assert image.size == (72, 128)


@pytest.mark.parametrize(
    "body",
    [
        "self.wait(3)\nself.add(Dot())\nself.wait(0.1)\nself.clear()\nself.wait(3)",  # one frame of 61
        "self.play(FadeIn(Square()))\nself.play(*[FadeOut(m) for m in self.mobjects])",
        "self.camera.background_color = WHITE\nself.add(Line(color=BLACK, stroke_width=1))\nself.wait(3)",
    ],
)
def test_the_thumbnail_of_a_video_with_content_is_not_blank(
    zygote: Zygote, inspector: Zygote, tmp_path: Path, body: str
) -> None:
    zygote.run(tmp_path, render_job(scene(body), widthPx=854, heightPx=480))
    assert inspector.run(tmp_path, inspect_job(854, 480)).result["type"] == "inspected"
    with Image.open(tmp_path / "published-thumbnail.jpg") as image:
        assert np.ptp(np.asarray(image.convert("L"))) > 30


def test_a_blank_video_gets_a_thumbnail_too(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(scene("self.wait()")))
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "inspected"
    assert (tmp_path / "published-thumbnail.jpg").exists()


def test_a_damaged_video_is_a_failure(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
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
        error = inspector.run(tmp_path, inspect_job(854, 480)).error
        assert error.startswith("The video ")
        assert "asked for" not in error
        assert not (tmp_path / "published-thumbnail.jpg").exists()


def test_other_than_regular_files_are_rejected(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "failed"
    path.symlink_to("/etc/passwd")
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "failed"
    path.unlink()
    os.mkfifo(path)
    assert "regular file" in inspector.run(tmp_path, inspect_job()).error
    path.unlink()
    path.mkdir()
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "failed"


def test_limits_are_enforced(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    error = inspector.run(tmp_path, inspect_job(frames=19)).error
    assert error == "The video is longer than the limit of 19 frames."
    data = (tmp_path / "video.mp4").read_bytes()
    (tmp_path / "video.mp4").write_bytes(data + bytes(3 << 20))
    error = inspector.run(tmp_path, inspect_job(outputBytes=3 << 20)).error
    assert error == "The video is larger than the limit of 3 MiB."


def test_a_video_of_another_size_or_rate_is_rejected(
    zygote: Zygote, inspector: Zygote, tmp_path: Path
) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    error = inspector.run(tmp_path, inspect_job(64, 36)).error
    assert error == "The video is 128 by 72 pixels, but 64 by 36 was requested."
    error = inspector.run(tmp_path, inspect_job(fps=60)).error
    assert error == "The video has 10 frames per second, not 60 as asked for."


@pytest.mark.parametrize("fps", [1, 7, 59, 120, 1001, 2000, 4999, 5000, 36_000])
@pytest.mark.parametrize("sound", [False, True], ids=["silent", "with sound"])
def test_every_rate_must_be_the_requested_one(
    zygote: Zygote, inspector: Zygote, tmp_path: Path, fps: int, *, sound: bool
) -> None:
    write_tone(tmp_path / "tone.wav", 1, 44_100, 2)
    body = f"self.add(Square())\nself.wait(1 / {fps})\nself.wait(2.5 / {fps})"
    body = f"self.add_sound('tone.wav')\n{body}" if sound else body
    done = zygote.run(tmp_path, render_job(scene(body), fps=fps)).result
    assert done["type"] == "done"
    inspected = inspector.run(tmp_path, inspect_job(fps=fps)).result
    assert contents(tmp_path / "published-video.mp4") == contents(tmp_path / "video.mp4")
    assert boxes(tmp_path / "published-video.mp4") == boxes(tmp_path / "video.mp4")
    assert (inspected["type"], inspected["frames"]) == ("inspected", done["frames"])


def later_sound(kind: str, number: int, packet: "av.Packet[Any]") -> None:
    if kind == "audio" and number > 0:
        packet.pts = packet.dts = number * 3600 * 48_000


def longer_last_picture(kind: str, number: int, packet: "av.Packet[Any]") -> None:
    if kind == "video" and number == 199 and packet.duration is not None:
        packet.duration *= 2  # one of 200, so that the average rate hardly changes


def picture_decoded_early(kind: str, number: int, packet: "av.Packet[Any]") -> None:
    if kind == "video" and number == 100 and packet.dts is not None:
        packet.dts -= 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (later_sound, "The video's sound has gaps."),
        (longer_last_picture, "The video doesn't show 10 frames in each second."),
        (picture_decoded_early, "The video doesn't show 10 frames in each second."),
    ],
)
def test_packets_at_other_times_are_rejected(
    zygote: Zygote,
    inspector: Zygote,
    tmp_path: Path,
    change: Callable[[str, int, "av.Packet[Any]"], None],
    error: str,
) -> None:
    write_tone(tmp_path / "tone.wav", 1, 44_100, 2)
    zygote.run(tmp_path, render_job(scene("self.add_sound('tone.wav')\nself.wait(20)")))
    source = tmp_path / "video.mp4"
    with av.open(source) as original, mp4.create(tmp_path / "changed.mp4", 10) as container:
        streams = [container.add_stream_from_template(stream) for stream in original.streams]
        numbers = [0 for _ in streams]
        for packet in original.demux():
            if packet.dts is None:
                continue
            index = packet.stream.index
            change(packet.stream.type, numbers[index], packet)
            numbers[index] += 1
            packet.stream = streams[index]
            container.mux(packet)
    (tmp_path / "changed.mp4").rename(source)
    assert inspector.run(tmp_path, inspect_job()).error == error


def test_the_thumbnail_follows_no_link(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    (tmp_path / "target").write_text("untouched")
    (tmp_path / "published-thumbnail.jpg").symlink_to(tmp_path / "target")
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "inspected"
    assert (tmp_path / "target").read_text() == "untouched"
    assert not (tmp_path / "published-thumbnail.jpg").is_symlink()


def test_captions_are_written_again(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    body = """
        self.add_subcaption('a < b & c --> d\\n\\n\\x07e')
        self.add_subcaption('x', 2)
        self.wait(1)
    """
    zygote.run(tmp_path, render_job(scene(body)))
    assert inspector.run(tmp_path, inspect_job()).result["type"] == "inspected"
    published = (tmp_path / "published-captions.vtt").read_bytes()
    assert published == (tmp_path / "captions.vtt").read_bytes()
    assert b"a &lt; b &amp; c --&gt; d" in published


FROM_TO = "WEBVTT\n\n00:00:00.000 --> 00:00:01.000"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "WEBVTT",
        "WEBVTT\n\n",
        f"\ufeff{FROM_TO}\nx\n",
        f"{FROM_TO}\nx",
        f"{FROM_TO}\n\n",
        f"{FROM_TO} line:0\nx\n",
        f"{FROM_TO}\n<b>x</b>\n",
        f"{FROM_TO}\n&nbsp;x\n",
        f"{FROM_TO}\nx\ry\n",
        f"{FROM_TO}\nx\n\nNOTE y\n",
        f"{FROM_TO}\nx\n\nname\n00:00:01.000 --> 00:00:02.000\ny\n",
        "WEBVTT - title\n\n00:00:00.000 --> 00:00:01.000\nx\n",
        "WEBVTT\n\n00:00:01.000 --> 00:00:01.000\nx\n",
        "WEBVTT\n\n00:00:00.000 --> 00:60:00.000\nx\n",
        "WEBVTT\n\n00:00:02.000 --> 00:00:03.000\nx\n\n00:00:01.000 --> 00:00:03.000\nx\n",
    ],
)
def test_other_captions_are_rejected(zygote: Zygote, inspector: Zygote, tmp_path: Path, text: str) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    (tmp_path / "captions.vtt").write_bytes(text.encode())
    error = inspector.run(tmp_path, inspect_job()).error
    assert error == "The captions aren't as the renderer writes them."
    assert not (tmp_path / "published-captions.vtt").exists()


def test_too_many_captions_are_rejected(zygote: Zygote, inspector: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    cue = "00:00:00.000 --> 00:00:01.000\nx\n"
    (tmp_path / "captions.vtt").write_text("WEBVTT\n\n" + "\n".join([cue] * 50_001))
    assert inspector.run(tmp_path, inspect_job()).error == "There are more than 50000 captions."
    (tmp_path / "captions.vtt").write_text(f"WEBVTT\n\n{cue[:-1]}{'x' * 20_001}\n")
    assert "more than 20000 characters" in inspector.run(tmp_path, inspect_job()).error


def test_probing_opens_no_other_decoder(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with av.open(str(path), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 128, 72, "yuv420p"
        for packet in (*stream.encode(av.VideoFrame(128, 72, "yuv420p")), *stream.encode(None)):
            container.mux(packet)

    def said(options: dict[str, str]) -> str:
        av.logging.set_level(av.logging.DEBUG)
        with (
            path.open("rb") as file,
            av.logging.Capture() as lines,
            av.open(file, "r", format="mp4", options=options),
        ):
            pass
        av.logging.set_level(None)
        return "".join(line for _, _, line in lines)

    refusal = "not on whitelist"
    assert refusal in said(inspection._OPTIONS)
    assert refusal not in said({})
    with path.open("rb") as file, pytest.raises(SceneError, match="'mp4v'"):
        mp4_boxes.check(file, path.stat().st_size, samples_max=100)


def test_boxes_that_the_muxer_does_not_write_are_rejected(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE))
    data = (tmp_path / "video.mp4").read_bytes()
    index = data.index(b"mdat") - 4
    uuid = b"\0\0\0\x18uuid0123456789abcdef"
    for changed in (
        uuid + data,
        data[:index] + uuid + data[index:],
        data + uuid,
        data.replace(b"hdlr", b"skip", 1),
        data.replace(b"vmhd", b"free", 1),
        data.replace(b"\x24edts", b"\x25edts", 1),
        data.replace(b"mvhd", b"mvhe", 1),
    ):
        assert changed != data
        (tmp_path / "video.mp4").write_bytes(changed)
        with (tmp_path / "video.mp4").open("rb") as file, pytest.raises(SceneError):
            mp4_boxes.check(file, len(changed), samples_max=100)


def test_the_inspector_has_its_own_memory_and_no_manim(zygote: Zygote, inspector: Zygote) -> None:
    maps = [Path(f"/proc/{each.process.pid}/maps").read_text() for each in (zygote, inspector)]
    assert "manimpango" in maps[0]
    assert "manimpango" not in maps[1]
    places = [next(line for line in text.splitlines() if "libc.so" in line).split()[0] for text in maps]
    assert places[0] != places[1]
