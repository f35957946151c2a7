"""What the encoder makes besides MP4 of the pictures that are sent."""

import base64
import io
import json
import re
import socket
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from client import LIMITS, Message, Zygote
from scene_renderer.encoder import formats
from scene_renderer.encoder.video_file import VideoFile
from scene_renderer.scene_error import SceneError
from scene_renderer.video.frames import Cue, Form, Pixels, Section, Sender
from sent import JOB, encoded
from videos import streams

FORM = Form(1280, 720, 30, "rgba")
LARGE = JOB | {"widthPx": 1280, "heightPx": 720, "fps": 30}
FRAMES = 6


def picture(number: int) -> Pixels:
    """A bar that moves over black; its lower half is half transparent."""
    pixels = FORM.new_picture()
    pixels[..., 3] = 255
    pixels[100:300, 100 * number : 100 * number + 100] = (250, 20, 60, 255)
    pixels[300:500, 100 * number : 100 * number + 100] = (125, 10, 30, 128)
    return pixels


def send(connection: socket.socket) -> None:
    sender = Sender(connection)
    sender.form(FORM)
    sender.section(Section("The <first>", "default.normal", "../../x.html"))
    for number in range(FRAMES):
        if number == 4:
            sender.section(Section("second", "default.normal", "y.mp4"))
        sender.frame(picture(number), (0, FORM.height_px), 5)
    sender.sound(44_100, bytes(44_100 * 2))
    sender.cue(Cue(0.25, 0.5, "a --> b\n\n1 < 2"))
    sender.end()


@pytest.fixture(scope="module")
def made(_landscape: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    names = ["srt", "gif", "webp", "apng", "webm", "m4a", "sprites", "last-frame", "png", "sections"]
    names += ["slides", "pdf", "mp4-chapters"]
    assert encoded(_landscape.encoder, folder, send, LARGE | {"formats": names}).length == (30, 1.0)
    return folder


@pytest.fixture(scope="module")
def transparent(_landscape: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("transparent")
    names = ["transparent-webm", "mov", "transparent-png"]
    job = LARGE | {"formats": names, "isOther": True}
    assert encoded(_landscape.encoder, folder, send, job | {"formats": [*names, "sections"]}).length == (
        30,
        1.0,
    )
    return folder


def test_captions_are_also_subrip(made: Path) -> None:
    assert (made / "captions.srt").read_text() == "1\n00:00:00,250 --> 00:00:00,500\na -> b\n1 < 2\n"


@pytest.mark.parametrize("name", ["video.gif", "video.webp"])
def test_animated_pictures_are_small(made: Path, name: str) -> None:
    with Image.open(made / name) as image:
        assert image.size == (640, 360)
        durations = []
        for number in range(getattr(image, "n_frames", 1)):
            image.seek(number)
            shown = np.asarray(image.convert("RGB"), int)
            durations.append(image.info["duration"])
        assert abs(sum(durations) - 1000) <= 20
        assert len(durations) <= 15
        assert image.info["loop"] == 0
    expected = Image.fromarray(picture(FRAMES - 1)[..., :3]).resize((640, 360), Image.Resampling.BOX)
    assert np.abs(shown - np.asarray(expected, int)).mean() < 2


def test_animated_png_has_exactly_the_colours(made: Path) -> None:
    with av.open(str(made / "video.apng")) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 15
    with Image.open(made / "video.apng") as image:
        assert (image.size, image.info["loop"]) == ((640, 360), 0)
    for number, frame in enumerate(frames):
        pixels = picture(number * 2 // 5)[..., :3].astype(int)
        expected = (pixels[::2, ::2] + pixels[1::2, ::2] + pixels[::2, 1::2] + pixels[1::2, 1::2]) / 4
        assert np.abs(frame - expected).max() < 1, number


@pytest.mark.deep
@pytest.mark.parametrize(("name", "codec", "tag"), [("av1", "av1", "av01"), ("hevc", "hevc", "hvc1")])
def test_mp4_of_other_codecs_has_the_frames_and_the_sound(
    encoder: Zygote, tmp_path: Path, name: str, codec: str, tag: str
) -> None:
    encoded(encoder, tmp_path, send, LARGE | {"formats": [name, "sections"], "isOther": True})
    file = tmp_path / f"{name}.mp4"
    video, sound = streams(file)
    assert (video["codec_name"], video["codec_tag_string"], video["width"]) == (codec, tag, 1280)
    assert (video["color_space"], sound["codec_name"]) == ("bt470bg", "aac")
    assert sound_seconds(file) == pytest.approx(0.5, abs=0.05)
    assert shown(file) == 30


def test_an_encoder_that_is_not_there_is_named() -> None:
    format_ = formats.Format("mp4", "libnone", "yuv420p")
    with pytest.raises(SceneError, match="has no encoder libnone"):
        VideoFile(FORM, format_)


def test_webm_has_the_frames_and_the_sound(made: Path) -> None:
    video, sound = streams(made / "video.webm")
    assert (video["codec_name"], video["width"], sound["codec_name"]) == ("vp9", 1280, "opus")
    assert video["color_space"] == "bt470bg"
    assert sound_seconds(made / "video.webm") == pytest.approx(0.5, abs=0.05)
    assert shown(made / "video.webm") == pytest.approx(30, abs=0)
    (alone,) = streams(made / "sound.m4a")
    assert alone["codec_name"] == "aac"
    assert float(alone["duration"]) == pytest.approx(0.5, abs=0.05)


def shown(path: Path) -> int:
    """The number of frames of a video; asserts that they are those that were sent."""
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    for index, frame in enumerate(frames):
        sent = picture(index // 5)
        assert np.abs(frame.astype(int) - sent[..., :3]).mean() < 2, index
    return len(frames)


def sound_seconds(path: Path) -> float:
    with av.open(str(path)) as container:
        return sum(frame.samples / frame.sample_rate for frame in container.decode(audio=0))


def test_small_pictures_have_their_places_in_a_sheet(made: Path) -> None:
    head, *cues = (made / "sprites.vtt").read_text().split("\n\n")
    assert head == "WEBVTT"
    assert cues[1] == "00:00:00.233 --> 00:00:00.467\nsprites.jpg#xywh=160,0,160,90"
    assert cues[-1].startswith("00:00:00.933 --> 00:00:01.000\n")
    with Image.open(made / "sprites.jpg") as sheet:
        assert sheet.size == (5 * 160, 90)
        cell = np.asarray(sheet.crop((160, 0, 320, 90)), int)
    expected = Image.fromarray(picture(1)[..., :3]).resize((160, 90), Image.Resampling.BOX)
    assert np.abs(cell - np.asarray(expected, int)).mean() < 4


def pictures_in(path: Path) -> list[Pixels]:
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == [f"{number:05}.png" for number in range(30)]
        return [np.asarray(Image.open(io.BytesIO(archive.read(name)))) for name in archive.namelist()]


def test_each_frame_is_a_png(made: Path) -> None:
    for number, shown in enumerate(pictures_in(made / "frames.zip")):
        np.testing.assert_array_equal(shown, picture(number // 5)[..., :3])
    last = np.asarray(Image.open(made / "last-frame.png"))
    np.testing.assert_array_equal(last, picture(FRAMES - 1)[..., :3])


def test_sections_are_clips_whose_names_are_not_the_scenes(made: Path) -> None:
    with zipfile.ZipFile(made / "sections.zip") as archive:
        assert archive.namelist() == ["000.mp4", "001.mp4", "index.json"]
        index = json.loads(archive.read("index.json"))
        archive.extract("001.mp4", made)
    first, second = index
    assert first["name"] == "The <first>"
    assert second == {
        "name": "second",
        "type": "default.normal",
        "file": "001.mp4",
        "startSeconds": 0.666667,
        "seconds": 0.333333,
        "frames": 10,
    }
    with av.open(str(made / "001.mp4")) as container:
        assert len(list(container.decode(video=0))) == 10


def test_transparency_is_exact_where_the_codec_is(transparent: Path) -> None:
    assert {file.name for file in transparent.iterdir()} == {
        *("transparent.webm", "transparent.mov", "transparent-frames.zip", "sections.zip")
    }, "nothing of the video with a background"
    for number, shown in enumerate(pictures_in(transparent / "transparent-frames.zip")):
        np.testing.assert_array_equal(shown, picture(number // 5))
    video, sound = streams(transparent / "transparent.mov")
    assert (video["codec_name"], video["codec_tag_string"]) == ("prores", "ap4h")
    assert (video["profile"], video["pix_fmt"], sound["codec_name"]) == ("4444", "yuva444p12le", "pcm_s16le")
    with av.open(str(transparent / "transparent.mov")) as container:
        frames = list(container.decode(video=0))
    for number, frame in enumerate(frames):
        np.testing.assert_array_equal(alpha_of(frame), picture(number // 5)[..., 3])


def alpha_of(frame: av.VideoFrame) -> Pixels:
    bits = frame.format.components[3].bits
    values = np.frombuffer(memoryview(frame.planes[3]), np.uint16).reshape(frame.height, -1)
    alpha: Pixels = np.round(values[:, : frame.width] * (255 / (2**bits - 1))).astype(np.uint8)
    return alpha


def test_webm_has_alpha(transparent: Path) -> None:
    decoder = av.CodecContext.create("libvpx-vp9", "r")
    assert isinstance(decoder, av.VideoCodecContext)
    with av.open(str(transparent / "transparent.webm")) as container:
        frames = [frame for packet in container.demux(video=0) for frame in decoder.decode(packet)]
    assert len(frames) == 30
    for number, frame in enumerate(frames):
        plane = frame.planes[3]
        rows = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        alpha = rows[: frame.height, : frame.width]
        assert np.abs(alpha.astype(int) - picture(number // 5)[..., 3]).mean() < 1


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("png", "archive of PNGs"),
        ("webm", "WebM video"),
        ("gif", "GIF"),
        ("last-frame", "picture of the last frame"),
    ],
)
def test_an_error_names_the_format_that_is_too_large(
    encoder: Zygote, tmp_path: Path, name: str, noun: str
) -> None:
    random = np.random.default_rng(1)

    def noise(connection: socket.socket) -> None:
        sender = Sender(connection)
        sender.form(Form(128, 72, 10, "rgba"))
        for _ in range(10):
            pixels = random.integers(0, 255, (72, 128, 4), np.uint8)
            pixels[..., 3] = 255
            sender.frame(pixels, (0, 72), 1)
        sender.end()

    job: Message = JOB | {"formats": [name], "isOther": True, "limits": LIMITS | {"outputBytes": 9000}}
    outcome = encoded(encoder, tmp_path, noise, job)
    assert outcome.error == f"The {noun} is larger than the limit of 0 MiB."


def test_the_video_is_the_same_with_other_formats(encoder: Zygote, tmp_path: Path) -> None:
    videos = []
    for names in [], ["gif", "webm", "png"]:
        folder = tmp_path / str(len(names))
        folder.mkdir()

        def plain(connection: socket.socket) -> None:
            sender = Sender(connection)
            sender.form(FORM)
            for number in range(FRAMES):
                sender.frame(picture(number), (0, FORM.height_px), 5)
            sender.end()

        assert encoded(encoder, folder, plain, LARGE | {"formats": names}).length == (30, 1.0)
        videos.append((folder / "video.mp4").read_bytes())
    assert videos[0] == videos[1]


def test_a_presentation_has_sections_as_steps(made: Path) -> None:
    page = (made / "slides.html").read_text()
    about = json.loads(page.split('id="about">')[1].split("</script>")[0])
    assert about["fps"] == 30
    assert [(step["name"], step["start"], step["end"]) for step in about["steps"]] == [
        ("The <first>", 0, 19),
        ("second", 20, 29),
    ]
    assert "<first>" not in page
    still = base64.b64decode(about["steps"][1]["still"].removeprefix("data:image/jpeg;base64,"))
    with Image.open(io.BytesIO(still)) as image:
        assert np.abs(np.asarray(image, int) - picture(5)[..., :3]).mean() < 3
    video = page.split('id="data">')[1].split("</script>")[0]
    assert base64.b64decode(video) == (made / "video.mp4").read_bytes()


def test_a_pdf_has_a_page_for_each_step(made: Path) -> None:
    data = (made / "slides.pdf").read_bytes()
    pages = re.findall(rb"/Type /Page /Parent 2 0 R /MediaBox \[0 0 (\d+) (\d+)\]", data)
    assert pages == [(b"640", b"360")] * 2
    for number, place in enumerate(re.findall(rb"^(\d{10}) 00000 n $", data, re.MULTILINE), 1):
        assert data[int(place) :].startswith(b"%d 0 obj\n" % number)
    first = data.split(b"/DCTDecode /Length ")[1]
    length, rest = first.split(b" >>\nstream\n", 1)
    with Image.open(io.BytesIO(rest[: int(length)])) as image:
        assert image.size == (1280, 720)


def test_chapters_are_sections_over_the_same_pictures(made: Path) -> None:
    with av.open(str(made / "video-chapters.mp4")) as container:
        chapters = [
            (chapter["metadata"]["title"], float(chapter["start"] * (chapter["time_base"] or 0)))
            for chapter in container.chapters()
        ]
        types = {stream.type for stream in container.streams}
    assert chapters == [("The <first>", 0.0), ("second", pytest.approx(20 / 30, abs=0.001))]
    assert {"video", "audio"} <= types
    assert shown(made / "video-chapters.mp4") == 30
    with av.open(str(made / "video.mp4")) as container:
        assert not container.chapters()
