"""The encoder's process, and what hostile renders may send to it."""

import os
import signal
import socket
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from client import Zygote, jobs, render_job
from scene_renderer.video.frames import Cue, Form, Section, Sender
from sent import JOB, SIZE, encoded, head
from sources import SQUARE, scene
from videos import boxes, contents, streams

MOST = 2**64 - 1


FORM = head(b"O", SIZE.width_px, SIZE.height_px, SIZE.fps << 1)
PICTURE = bytes(SIZE.width_px * SIZE.height_px * 3 // 2)
FRAME = head(b"F", 0, SIZE.height_px, 10 << 1) + PICTURE
END = head(b"E")
OTHER = "The scene's process sent something else than the renderer sends."
SECTION = "The scene's process sent a section that was not asked for."
LONG = "The video is longer than the limit of 36000 frames."


def test_a_video_has_the_pictures_that_were_sent(encoder: Zygote, tmp_path: Path) -> None:
    pictures = [np.full((108, 128), 16 + 20 * number, np.uint8) for number in range(5)]
    for picture in pictures:
        picture[72:] = 128

    def send(connection: socket.socket) -> None:
        sender = Sender(connection)
        sender.form(SIZE)
        for number, picture in enumerate(pictures):
            sender.frame(picture, (0, 72), number + 1)
        sender.end()

    outcome = encoded(encoder, tmp_path, send)
    assert outcome.length == (15, 1.5)
    shown = [np.frombuffer(data, np.uint8)[:128].mean() for _, _, data in contents(tmp_path / "video.mp4")]
    expected = [picture[0, 0] for number, picture in enumerate(pictures) for _ in range(number + 1)]
    np.testing.assert_allclose(shown, expected, atol=2)
    assert boxes(tmp_path / "video.mp4") == [b"ftyp", b"moov", b"free", b"mdat"]
    assert {file.name for file in tmp_path.iterdir()} == {"video.mp4", "thumbnail.jpg"}


@pytest.mark.parametrize("fps", [1, 7, 59, 120, 1001, 4999, 5000, 36_000])
@pytest.mark.parametrize("sound", [False, True], ids=["silent", "with sound"])
@pytest.mark.sampled(4, deep=2)
def test_every_rate_can_be_encoded(encoder: Zygote, tmp_path: Path, fps: int, *, sound: bool) -> None:
    def send(connection: socket.socket) -> None:
        sender = Sender(connection)
        sender.form(Form(128, 72, fps, "yuv420p"))
        sender.frame(SIZE.new_picture(), (0, 72), fps)
        if sound:
            sender.sound(44_100, bytes(44_100 * 4))
        sender.end()

    outcome = encoded(encoder, tmp_path, send, JOB | {"fps": fps})
    assert outcome.length == (fps, 1.0)
    video, *others = streams(tmp_path / "video.mp4")
    assert (int(video["nb_frames"]), float(video["duration"])) == (fps, 1.0)
    assert [other["codec_name"] for other in others] == (["aac"] if sound else [])


REFUSED: dict[str, tuple[list[bytes], str]] = {
    "a frame before the form": ([FRAME], OTHER),
    "only the end": ([END], "The scene's process sent no video."),
    "a video without a picture": ([FORM, END], "The scene's process sent a video without a picture."),
    "an unknown part": ([FORM, head(b"X")], OTHER),
    "a second form": ([FORM, FORM], OTHER),
    "another size": (
        [head(b"O", 64, 36, 20), END],
        "The scene's process sent a video of another size or rate than was requested.",
    ),
    "no pixels": ([head(b"O", 0, 72, 20)], "A video can't have 0 by 72 pixels."),
    "too many pixels": ([head(b"O", 1 << 40, 72, 20)], f"A video can't have {1 << 40} by 72 pixels."),
    "no rate": ([head(b"O", 128, 72, 0)], LONG),
    "a rate above the limit": ([head(b"O", 128, 72, MOST)], LONG),
    "an odd size": ([head(b"O", 127, 72, 20)], OTHER),
    "rows after the last": ([FORM, head(b"F", 0, 74, 1 << 1)], OTHER),
    "rows that end before they begin": ([FORM, head(b"F", 4, 2, 1 << 1)], OTHER),
    "half of a row of chroma": ([FORM, head(b"F", 1, 4, 1 << 1)], OTHER),
    "the largest rows": ([FORM, head(b"F", MOST, MOST, 1 << 1)], OTHER),
    "a frame that is not shown": ([FORM, head(b"F", 0, 0, 0)], OTHER),
    "2^63 repetitions": ([FORM, head(b"F", 0, 0, (1 << 64) - 1)], LONG),
    "the most repetitions": ([FORM, FRAME, head(b"F", 0, 0, MOST)], LONG),
    "sound before the video": (
        [FORM, head(b"P", 48_000, 4) + bytes(4)],
        "The sound is longer than the video.",
    ),
    "half of a sample": ([FORM, FRAME, head(b"P", 48_000, 3) + bytes(3)], OTHER),
    "sound of no rate": ([FORM, FRAME, head(b"P", 0, 4) + bytes(4)], OTHER),
    "sound of the highest rate": ([FORM, FRAME, head(b"P", MOST, 4) + bytes(4)], OTHER),
    "empty sound": ([FORM, FRAME, head(b"P", 48_000, 0)], OTHER),
    "much sound at once": ([FORM, FRAME, head(b"P", 192_000, 768_000)], OTHER),
    "sound of two rates": ([FORM, FRAME, *(head(b"P", rate, 4) + bytes(4) for rate in (8000, 9000))], OTHER),
    "a frame after sound": ([FORM, FRAME, head(b"P", 8000, 4) + bytes(4), FRAME], OTHER),
    "a section in a service": ([FORM, head(b"S", 5) + b"a\0b\0\0", FRAME, END], SECTION),
    "a section without notes": ([FORM, head(b"S", 4) + b"a\0b\0", FRAME, END], OTHER),
    "a long name of a section": ([FORM, head(b"S", MOST)], OTHER),
    "a caption without times": ([FORM, FRAME, head(b"C", 15) + bytes(15)], OTHER),
    "a caption of any length": ([FORM, FRAME, head(b"C", MOST)], "The captions are too large."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_renderer_sends_is_refused(encoder: Zygote, tmp_path: Path, name: str) -> None:
    parts, error = REFUSED[name]
    outcome = encoded(encoder, tmp_path, lambda connection: connection.sendall(b"".join(parts)))
    assert outcome.error == error
    assert not [*tmp_path.iterdir()]


def test_sound_without_end_is_refused(encoder: Zygote, tmp_path: Path) -> None:
    def send(connection: socket.socket) -> None:
        connection.sendall(FORM + FRAME)
        for _ in range(10_000):
            connection.sendall(head(b"P", 48_000, 65_536) + bytes(65_536))

    assert encoded(encoder, tmp_path, send).error == "The sound is longer than the video."


@pytest.mark.parametrize(
    ("cue", "count", "error"),
    [
        (Cue(0, 1, "x"), 50_001, "There are more than 50000 captions."),
        (Cue(0, 1, "x" * 20_001), 1, "A caption has more than 20000 characters."),
        (Cue(0, 1, "x" * 20_000), 1000, "The captions are too large."),
        (Cue(0, 1, "&" * 20_000), 200, "The captions are too large."),
    ],
)
def test_captions_are_limited(encoder: Zygote, tmp_path: Path, cue: Cue, count: int, error: str) -> None:
    def send(connection: socket.socket) -> None:
        sender = Sender(connection)
        connection.sendall(FORM + FRAME)
        for _ in range(count):
            sender.cue(cue)
        sender.end()

    assert encoded(encoder, tmp_path, send).error == error


def test_sections_are_limited(encoder: Zygote, tmp_path: Path) -> None:
    local = {"format": "mp4", "transparent": False, "firstPlay": 0, "lastPlay": -1, "sections": True}
    job = JOB | {"local": local | {"portrait": False, "config": {}, "file": None}}

    def send(connection: socket.socket) -> None:
        connection.sendall(FORM)
        for number in range(10_001):
            Sender(connection).section(Section(f"{number}", "", None))

    assert encoded(encoder, tmp_path, send, job).error == "There are more than 10000 sections."


def test_times_that_are_no_numbers_are_captions_at_the_start(encoder: Zygote, tmp_path: Path) -> None:
    def send(connection: socket.socket) -> None:
        data = struct.pack(">dd", float("nan"), 1.0) + b"text"
        connection.sendall(FORM + FRAME + head(b"C", len(data)) + data + END)

    assert encoded(encoder, tmp_path, send).result["type"] == "encoded"
    assert "00:00:00.000 --> 00:00:01.000\ntext" in (tmp_path / "captions.vtt").read_text()


@pytest.mark.parametrize(
    "sent", [b"", FORM, FORM[:9], FORM + FRAME, FORM + FRAME[:5000], FORM + FRAME + END[:1]]
)
def test_a_render_that_breaks_off_leaves_nothing(encoder: Zygote, tmp_path: Path, sent: bytes) -> None:
    outcome = encoded(encoder, tmp_path, lambda connection: connection.sendall(sent))
    assert (outcome.reports, outcome.ended["exitCode"]) == ([], 0)
    assert not [*tmp_path.iterdir()]


def test_nothing_is_written_before_the_render_has_ended(encoder: Zygote, tmp_path: Path) -> None:
    path = tmp_path / "frames"
    channel = encoder.start(tmp_path, JOB, frames=str(path))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(FORM + FRAME + END)
    channel.socket.close()
    ended = encoder.receive()
    assert ended["exitCode"] != 0
    assert not [*tmp_path.iterdir()]


def test_size_is_limited(encoder: Zygote, tmp_path: Path) -> None:
    def send(connection: socket.socket) -> None:
        connection.sendall(FORM)
        for _ in range(100):
            connection.sendall(head(b"F", 0, SIZE.height_px, 1 << 1) + os.urandom(len(PICTURE)))
        connection.sendall(END)

    job = JOB | {"limits": JOB["limits"] | {"outputBytes": 100_000}}
    outcome = encoded(encoder, tmp_path, send, job)
    assert (outcome.result["failedBy"], outcome.error) == (
        "limit:output",
        "The video is larger than the limit of 0 MiB.",
    )


def test_pictures_that_the_encoder_holds_back_are_limited_too(encoder: Zygote, tmp_path: Path) -> None:
    def send(connection: socket.socket) -> None:
        connection.sendall(FORM)
        for _ in range(5):
            connection.sendall(head(b"F", 0, SIZE.height_px, 1 << 1) + os.urandom(len(PICTURE)))
        connection.sendall(END)

    job = JOB | {"limits": JOB["limits"] | {"outputBytes": 20_000}}
    assert encoded(encoder, tmp_path, send, job).result["failedBy"] == "limit:output"


def test_the_longest_video_of_one_picture_is_small(encoder: Zygote, tmp_path: Path) -> None:
    sent = FORM + head(b"F", 0, SIZE.height_px, 36_000 << 1) + PICTURE + END
    assert encoded(encoder, tmp_path, lambda connection: connection.sendall(sent)).length == (36_000, 3600.0)
    assert (tmp_path / "video.mp4").stat().st_size < 2_000_000


def test_a_render_waits_for_an_encoder_that_is_slower(zygote: Zygote, tmp_path: Path) -> None:
    body = "self.play(Rotate(Square(side_length=6, fill_opacity=1), 2), run_time=3)"
    channel = zygote.start(tmp_path, render_job(scene(body), widthPx=854, heightPx=480))
    assert channel.encoding
    [watch] = jobs(zygote.encoder.process.pid)
    group = [watch, *map(int, Path(f"/proc/{watch}/task/{watch}/children").read_text().split())]
    for pid in group:
        os.kill(pid, signal.SIGSTOP)
    channel.wait_for(stage="rendering")
    for pid in group:
        os.kill(pid, signal.SIGCONT)
    assert zygote.finish(channel).length == (30, 3.0)


def test_a_render_fails_when_its_encoder_is_killed(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, render_job(scene("self.play(Create(Square()), run_time=600)")))
    channel.wait_for(stage="rendering")
    assert channel.encoding
    zygote.encoder.send({"type": "kill", "job": "job"})
    assert "BrokenPipeError" in zygote.finish(channel).error


@pytest.mark.deep
def test_hundreds_of_encodings_leave_nothing_behind(encoder: Zygote, tmp_path: Path) -> None:
    def open_files() -> int:
        return len(os.listdir(f"/proc/{encoder.process.pid}/fd"))

    before = None
    for number in range(300):
        sent = FORM + FRAME + (END if number % 2 else b"")
        encoded(encoder, tmp_path, lambda connection, sent=sent: connection.sendall(sent))  # type: ignore[misc]
        if number == 20:
            encoder.await_idle()
            before = open_files()
    encoder.await_idle()
    assert open_files() == before


def test_the_thumbnail_shows_the_scene(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=1280, heightPx=720))
    with Image.open(tmp_path / "thumbnail.jpg") as image:
        assert (image.format, image.size) == ("JPEG", (640, 360))
        centre = np.asarray(image.convert("RGB").resize((1, 1), box=(310, 170, 330, 190)))
    red, green, blue = map(int, centre[0, 0])
    assert abs(red - 0xFC) < 8
    assert abs(green - 0x62) < 8
    assert abs(blue - 0x55) < 8


def test_the_thumbnail_of_a_narrow_video_keeps_its_width(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(SQUARE, widthPx=72, heightPx=128))
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
def test_the_thumbnail_of_a_video_with_content_is_not_blank(
    zygote: Zygote, tmp_path: Path, body: str
) -> None:
    zygote.run(tmp_path, render_job(scene(body), widthPx=854, heightPx=480))
    with Image.open(tmp_path / "thumbnail.jpg") as image:
        assert np.ptp(np.asarray(image.convert("L"))) > 30


def test_a_blank_video_gets_a_thumbnail_too(zygote: Zygote, tmp_path: Path) -> None:
    zygote.run(tmp_path, render_job(scene("self.wait()")))
    assert (tmp_path / "thumbnail.jpg").exists()


def test_the_encoder_has_its_own_memory_and_no_manim(zygote: Zygote, encoder: Zygote) -> None:
    maps = [Path(f"/proc/{each.process.pid}/maps").read_text() for each in (zygote, encoder)]
    assert "manimpango" in maps[0]
    assert "manimpango" not in maps[1]
    places = [next(line for line in text.splitlines() if "libc.so" in line).split()[0] for text in maps]
    assert places[0] != places[1]
