"""Frames of a video that also become pictures."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from client import Message, Zygote, render_job
from scene_renderer.video.frames import Form, Sender
from sent import JOB, encoded
from sources import scene

_LEVELS = """
level = Rectangle(width=20, height=10, fill_opacity=1, stroke_width=0)
self.add(level)
for grey in (0.2, 0.4, 0.6, 0.8):
    level.set_fill(WHITE, grey)
    self.next_section(skip_animations=grey == 0.6)
    self.wait(1)
"""


def _job(*places: tuple[str, float], **changes: Any) -> Message:
    pictures = [{"at": at, "value": value} for at, value in places]
    return render_job(scene(_LEVELS), hasColours=True, pictures=pictures, **changes)


def _grey(path: Path) -> float:
    return float(np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("L")).mean() / 255)


def test_stills_and_the_thumbnail_are_frames_of_the_video(zygote: Zygote, tmp_path: Path) -> None:
    names = ["still-1.png", "still-2.png", "still-3.png", "thumbnail.jpg"]
    job = _job(("play", 0), ("seconds", 1.95), ("last", 0), ("seconds", 1))
    outcome = zygote.run(tmp_path, job, encode={"pictures": names})
    assert outcome.length == (30, 3.0)
    assert [round(_grey(tmp_path / name), 1) for name in names] == [0.2, 0.4, 0.8, 0.4]
    with Image.open(tmp_path / "still-1.png") as still:
        assert (still.format, still.mode, still.size) == ("PNG", "RGB", (128, 72))


def test_times_are_those_of_the_part_and_plays_those_of_the_scene(zygote: Zygote, tmp_path: Path) -> None:
    names = ["still-1.png", "still-2.png"]
    job = _job(("seconds", 0), ("play", 3), part={"first": 1, "last": None})
    zygote.run(tmp_path, job, encode={"pictures": names})
    assert [round(_grey(tmp_path / name), 1) for name in names] == [0.4, 0.8]


@pytest.mark.parametrize(
    ("place", "part", "error"),
    [
        (("seconds", 3), None, "The video has no frame at 3 s: it is 3 s long."),
        (("play", 2), None, "The video has no frame of play 2, which is skipped."),
        (("play", 4), None, "The video has no play 4: it has plays 0 to 3 of the scene, counted from 0."),
        (("play", 0), (1, 1), "The video has no play 0: it has plays 1 to 1 of the scene, counted from 0."),
    ],
)
def test_a_frame_that_is_not_there_is_an_error(
    zygote: Zygote, tmp_path: Path, place: tuple[str, float], part: tuple[int, int] | None, error: str
) -> None:
    plays = part and {"first": part[0], "last": part[1]}
    outcome = zygote.run(tmp_path, _job(place, part=plays), encode={"pictures": ["thumbnail.jpg"]})
    assert (outcome.error, outcome.result["finding"]["kind"]) == (error, "scene:value")


def test_a_scene_that_plays_nothing_has_a_picture_of_its_second(zygote: Zygote, tmp_path: Path) -> None:
    code = scene("self.add(Rectangle(width=20, height=10, fill_opacity=1))")
    pictures = [{"at": "last", "value": 0}, {"at": "seconds", "value": 0.9}]
    job = render_job(code, hasColours=True, pictures=pictures)
    zygote.run(tmp_path, job, encode={"pictures": ["still-1.png", "still-2.png"]})
    assert [round(_grey(tmp_path / name), 1) for name in ("still-1.png", "still-2.png")] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("marks", "error"),
    [
        ([], "The scene's process has not sent all pictures."),
        ([1], "The scene's process sent something else than the renderer sends."),
        ([0, 0], "The scene's process sent something else than the renderer sends."),
    ],
)
def test_a_process_may_mark_each_chosen_frame_once(
    encoder: Zygote, tmp_path: Path, marks: list[int], error: str
) -> None:
    def send(connection: Any) -> None:
        sender = Sender(connection)
        sender.form(form := Form(128, 72, 10, "yuv420p"))
        sender.frame(form.new_picture(), (0, 72), 1)
        for number in marks:
            sender.mark(number)
        sender.end()

    assert encoded(encoder, tmp_path, send, JOB | {"pictures": ["thumbnail.jpg"]}).error == error
