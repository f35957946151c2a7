"""Videos that are inspected while they are rendered."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from client import Zygote, inspect_job, render_job
from scene_renderer.video.stream import _HEAD
from sound_file import write_tone
from sources import SQUARE, scene
from streams import Part, inspect, listening, parts_of, record, stream_of
from videos import boxes, contents

FRAMES = 100


@pytest.fixture(scope="module")
def sent(_landscape: Zygote, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a render of a hundred frames with sound and captions sends."""
    folder = tmp_path_factory.mktemp("sent")
    write_tone(folder / "tone.wav", 1, 44_100, 2)
    body = "self.add_sound('tone.wav')\nself.add_subcaption('a', 1)\nself.play(Create(Square()), run_time=10)"
    data, outcome = record(_landscape, folder, render_job(scene(body)))
    assert outcome.result["type"] == "done"
    assert not (folder / "video.mp4").exists()
    assert not (folder / "captions.vtt").exists()
    return data


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "with sound"])
def test_a_streamed_video_is_published_like_a_file(
    zygote: Zygote, inspector: Zygote, tmp_path: Path, *, sound: bool
) -> None:
    write_tone(tmp_path / "tone.wav", 1, 44_100, 2)
    body = "self.add_subcaption('hello', 1)\nself.play(Create(Square(color=RED)), run_time=4)\nself.wait(0.5)"
    job = render_job(scene(f"self.add_sound('tone.wav')\n{body}" if sound else body))
    zygote.run(tmp_path, job)
    by_file = inspector.run(tmp_path, inspect_job())
    names = ("published-video.mp4", "published-captions.vtt", "published-thumbnail.jpg")
    as_file = [tmp_path / f"file-{name}" for name in names]
    for name, path in zip(names, as_file, strict=True):
        (tmp_path / name).rename(path)
    data, _ = record(zygote, tmp_path, job)
    streamed = inspect(inspector, tmp_path, inspect_job(), data)
    assert streamed.result == by_file.result == {"type": "inspected", "frames": 45, "seconds": 4.5}
    assert contents(tmp_path / "published-video.mp4") == contents(as_file[0])
    assert boxes(tmp_path / "published-video.mp4") == boxes(as_file[0])
    for name, path in zip(names, as_file, strict=True):
        assert (tmp_path / name).read_bytes() == path.read_bytes()
    assert not (tmp_path / "silent.mp4").exists()


@pytest.mark.parametrize("fps", [1, 7, 59, 1001, 36_000])
def test_every_rate_can_be_streamed(zygote: Zygote, inspector: Zygote, tmp_path: Path, fps: int) -> None:
    body = f"self.add(Square())\nself.wait(1 / {fps})\nself.wait(2.5 / {fps})"
    data, outcome = record(zygote, tmp_path, render_job(scene(body), fps=fps))
    inspected = inspect(inspector, tmp_path, inspect_job(fps=fps), data).result
    assert (inspected["type"], inspected["frames"]) == ("inspected", outcome.result["frames"])


def test_the_thumbnail_has_the_size_of_that_of_a_file(
    zygote: Zygote, inspector: Zygote, tmp_path: Path
) -> None:
    data, _ = record(zygote, tmp_path, render_job(SQUARE, widthPx=1280, heightPx=720))
    assert inspect(inspector, tmp_path, inspect_job(1280, 720), data).result["type"] == "inspected"
    with Image.open(tmp_path / "published-thumbnail.jpg") as image:
        assert image.size == (640, 360)


def pictures_of(parts: list[Part]) -> list[int]:
    return [place for place, part in enumerate(parts) if part[0] == b"P"]


def changed(parts: list[Part], place: int, **changes: object) -> list[Part]:
    kind, first, second, data = parts[place]
    new: Any = (
        changes.get("kind", kind),
        changes.get("first", first),
        changes.get("second", second),
        changes.get("data", data),
    )
    return [*parts[:place], new, *parts[place + 1 :]]


def picture(place: int, change: Callable[[bytes], bytes]) -> Callable[[list[Part]], list[Part]]:
    """Change the data of a picture."""

    def apply(parts: list[Part]) -> list[Part]:
        at = pictures_of(parts)[place]
        return changed(parts, at, data=change(parts[at][3]))

    return apply


def with_damaged_picture(parts: list[Part]) -> list[Part]:
    """Cut off half of a picture: the largest one, because there is little in those that show no change."""
    _, *pictures = pictures_of(parts)
    place = max(pictures, key=lambda at: len(parts[at][3]))
    data = parts[place][3]
    return changed(parts, place, data=data[: len(data) // 2])


def later_sound(parts: list[Part]) -> list[Part]:
    sounds = [place for place, part in enumerate(parts) if part[0] == b"S"]
    return changed(parts, sounds[3], first=3600 * 48_000)


def later_picture(parts: list[Part]) -> list[Part]:
    place = pictures_of(parts)[50]
    return changed(parts, place, first=parts[place][1] + 1)


def picture_decoded_early(parts: list[Part]) -> list[Part]:
    place = pictures_of(parts)[50]
    return changed(parts, place, second=parts[place][2] - 1)


def without_a_picture(parts: list[Part]) -> list[Part]:
    place = pictures_of(parts)[50]
    return [*parts[:place], *parts[place + 1 :]]


UNIT = b"\0\0\0\1"
BROKEN = "The video can't be decoded: a picture is incomplete."
MORE = "The video has a picture with more to it than the renderer's encoder writes."
PART = "The video holds a part with more to it than the renderer writes."
OTHER = "The video holds something else than pictures and sound."
UNKNOWN = "The video holds something else than pictures, sound and captions."
RATE = "The video doesn't show 10 frames in each second."


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (
            lambda parts: [(b"X", 0, 0, b""), *parts],
            "The video holds something else than pictures, sound and captions.",
        ),
        (lambda parts: parts[-1:], "The video is incomplete: 0 of its 0 frames could be decoded."),
        (without_a_picture, RATE),
        (later_picture, RATE),
        (picture_decoded_early, RATE),
        (later_sound, "The video's sound has gaps."),
        (picture(0, lambda _: b""), "The video can't be decoded: a picture has no beginning."),
        (picture(0, lambda data: b"x" + data), "The video can't be decoded: a picture has no beginning."),
        (picture(9, lambda _: UNIT + b"\x06hidden"), OTHER),
        (picture(9, lambda data: data + UNIT + b"\x67settings"), OTHER),
        (picture(9, lambda data: data + data), MORE),
        (picture(9, lambda data: data + b"\0\0\2hidden"), BROKEN),
        (picture(9, lambda data: data + bytes(8)), BROKEN),
        (picture(9, lambda data: data + b"\1" * 40_000), PART),
        (with_damaged_picture, "The video can't be decoded: "),
        (lambda parts: changed(parts, len(parts) - 1, data=b"NOTE"), "The captions aren't as "),
    ],
)
def test_other_than_what_encoders_write_is_rejected(
    inspector: Zygote,
    tmp_path: Path,
    sent: bytes,
    change: Callable[[list[Part]], list[Part]],
    error: str,
) -> None:
    data = stream_of(change(parts_of(sent)))
    assert inspect(inspector, tmp_path, inspect_job(), data).error.startswith(error)
    assert not (tmp_path / "published-thumbnail.jpg").exists()


def test_pictures_are_limited_together(inspector: Zygote, tmp_path: Path, sent: bytes) -> None:
    """Decoders ignore what is behind the picture in a slice."""
    job = inspect_job()
    most = -(-job["widthPx"] // 16) * -(-job["heightPx"] // 16) * 400

    def padded(part: Part) -> Part:
        kind, first, second, data = part
        return (kind, first, second, data + b"\1" * (most - len(data)) if kind == b"P" else data)

    outcome = inspect(inspector, tmp_path, job, stream_of([padded(part) for part in parts_of(sent)]))
    assert outcome.error == "The video has pictures with more to them than the renderer's encoder writes."


def test_pictures_that_are_not_shown_count_too(inspector: Zygote, tmp_path: Path, sent: bytes) -> None:
    """Decoders drop what comes before the first key picture."""
    parts = parts_of(sent)
    later = parts[pictures_of(parts)[-1]]
    many = [(b"P", place, place, later[3]) for place in range(101)]
    outcome = inspect(inspector, tmp_path, inspect_job(frames=100), stream_of(many))
    assert outcome.error == "The video is longer than the limit of 100 frames."


@pytest.mark.parametrize("kind", [b"P", b"S", b"E"])
def test_a_part_is_not_read_that_is_larger_than_its_kind_can_be(
    inspector: Zygote, tmp_path: Path, sent: bytes, kind: bytes
) -> None:
    data = sent[: -len(parts_of(sent)[-1][3]) - _HEAD.size] + _HEAD.pack(kind, 0, 0, (1 << 32) - 1)
    error = inspect(inspector, tmp_path, inspect_job(), data).error
    assert error == PART


def test_a_stream_that_ends_early_is_a_failure(inspector: Zygote, tmp_path: Path, sent: bytes) -> None:
    for length in (0, 1, _HEAD.size, len(sent) // 3, len(sent) - 1):
        error = inspect(inspector, tmp_path, inspect_job(), sent[:length]).error
        assert error == "The video is incomplete: it ends too early."
        assert not (tmp_path / "published-thumbnail.jpg").exists()


def test_the_limits_of_a_streamed_video_are_enforced(inspector: Zygote, tmp_path: Path, sent: bytes) -> None:
    error = inspect(inspector, tmp_path, inspect_job(frames=FRAMES - 1), sent).error
    assert error == f"The video is longer than the limit of {FRAMES - 1} frames."
    assert inspect(inspector, tmp_path, inspect_job(frames=FRAMES), sent).result["frames"] == FRAMES
    error = inspect(inspector, tmp_path, inspect_job(outputBytes=4096), sent).error
    assert error.startswith("The video is larger than the limit")
    # An endless stream is refused as soon as it exceeds a limit.
    endless = stream_of([part for part in parts_of(sent) if part[0] == b"P"] * 3)
    assert inspect(inspector, tmp_path, inspect_job(), endless).result["type"] == "failed"


def test_a_video_of_another_size_can_not_be_decoded(
    zygote: Zygote, inspector: Zygote, tmp_path: Path
) -> None:
    data, _ = record(zygote, tmp_path, render_job(SQUARE))
    assert inspect(inspector, tmp_path, inspect_job(64, 36), data).error.startswith("The video ")
    assert not (tmp_path / "published-thumbnail.jpg").exists()


def test_a_job_that_is_killed_leaves_an_incomplete_stream(
    zygote: Zygote, inspector: Zygote, tmp_path: Path
) -> None:
    body = "self.play(Create(Square()), run_time=10)\nimport os\nos.kill(os.getpid(), 9)"
    data, outcome = record(zygote, tmp_path, render_job(scene(body)))
    assert outcome.ended["signal"] == "SIGKILL"
    assert 0 < len(pictures_of(parts_of(data))) < FRAMES
    assert inspect(inspector, tmp_path, inspect_job(), data).error.startswith("The video is incomplete")


def test_a_render_ends_when_its_inspection_has_ended(zygote: Zygote, tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        job = render_job(scene("self.play(Create(Square()), run_time=600)"))
        channel = zygote.start(tmp_path, job, stream=listener)
        connection, _ = listener.accept()
        assert connection.recv(1)
        connection.close()
        outcome = zygote.finish(channel)
    assert outcome.result["type"] == "failed"


def test_a_scene_that_writes_to_the_stream_itself_is_inspected_like_any_other(
    zygote: Zygote, inspector: Zygote, tmp_path: Path
) -> None:
    body = """
        import gc
        from scene_renderer.video.stream import Sender
        sender = next(found for found in gc.get_objects() if isinstance(found, Sender))
        sender._connection.sendall(b'garbage' * 100)
        self.wait()
    """
    data, outcome = record(zygote, tmp_path, render_job(scene(body)))
    assert outcome.result["type"] == "done"
    assert b"garbage" in data
    assert inspect(inspector, tmp_path, inspect_job(), data).result["type"] == "failed"


def test_a_render_that_claims_to_have_finished_is_ended(zygote: Zygote, tmp_path: Path) -> None:
    body = """
import stat, subprocess, time
subprocess.Popen(["sleep", "1234.5"])
for number in range(3, 256):
    try:
        if stat.S_ISFIFO(os.fstat(number).st_mode):
            os.write(number, b".")
    except OSError:
        pass
time.sleep(1000)
"""
    data, outcome = record(zygote, tmp_path, render_job("import os\n" + scene(body)))
    assert (outcome.ended["exitCode"], outcome.ended["reason"]) == (0, None)
    assert data == b""
    _, following = record(zygote, tmp_path, render_job(SQUARE))
    assert following.result["type"] == "done"
    assert b"sleep\x001234.5\x00" not in command_lines(), (
        "the next job begins when all processes of the one before are dead"
    )


def command_lines() -> Iterator[bytes]:
    """The command lines of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield path.read_bytes()
