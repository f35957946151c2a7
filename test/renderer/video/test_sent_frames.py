"""Frames on their way from a render to the encoder's process."""

import os
import random
import socket
import threading

import numpy as np
import pytest

from scene_renderer.scene_error import SceneError
from scene_renderer.video.frames import (
    Cue,
    CutOffError,
    Form,
    Frame,
    Part,
    PixelFormat,
    Receiver,
    Section,
    Sender,
    Sound,
)

FRAMES_MAX = 1000


@pytest.mark.parametrize("pixels", ["yuv420p", "rgba"])
@pytest.mark.parametrize("size", [(2, 2), (128, 72), (854, 480)])
def test_the_receiver_holds_the_picture_of_each_frame(size: tuple[int, int], pixels: PixelFormat) -> None:
    form = Form(*size, 30, pixels)
    chance = random.Random(size[0])
    picture = form.new_picture()
    shown: list[tuple[int, bytes]] = []
    ours, theirs = socket.socketpair()

    def send() -> None:
        sender = Sender(ours)
        sender.form(form)
        height = size[1]
        for number in range(20):
            first = chance.randint(0, height // 2) * 2
            rows = (0, height) if number == 0 else (first, chance.randint(first // 2, height // 2) * 2)
            for part in form.parts(picture, rows):
                part[:] = chance.randbytes(len(part))
            count = chance.randint(1, 5)
            shown.append((count, picture.tobytes()))
            sender.frame(picture, rows, count)
        sender.end()

    sending = threading.Thread(target=send)
    sending.start()
    receiver = Receiver(theirs, FRAMES_MAX)
    parts = receiver.parts()
    assert next(parts) == form
    received = [(part.count, receiver.picture.tobytes()) for part in parts if isinstance(part, Frame)]
    sending.join()
    assert received == shown
    assert receiver.frames == sum(count for count, _ in shown)
    ours.close()
    theirs.close()


def test_sections_sound_and_captions_arrive_as_they_were_sent() -> None:
    ours, theirs = socket.socketpair()

    def send() -> None:
        form = Form(2, 2, 1, "rgba")
        sender = Sender(ours)
        sender.form(form)
        sender.section(Section("one", "default.normal", "one.mp4"))
        sender.section(Section("two", "", None))
        sender.frame(form.new_picture(), (0, 2), 3)
        sender.sound(48_000, bytes(300_000))
        sender.cue(Cue(-1.5, float("inf"), "half of a character: \ud800, and \0"))
        sender.end()

    sending = threading.Thread(target=send)
    sending.start()
    parts: list[Part] = [*Receiver(theirs, FRAMES_MAX).parts()]
    sending.join()
    assert parts[1:3] == [Section("one", "default.normal", "one.mp4"), Section("two", "", None)]
    sounds = [part for part in parts if isinstance(part, Sound)]
    assert sum(len(sound.data) for sound in sounds) == 300_000
    assert {sound.rate_hz for sound in sounds} == {48_000}
    assert parts[-1] == Cue(-1.5, float("inf"), "half of a character: ?, and \0")


def test_a_frame_without_changed_rows_is_not_new() -> None:
    ours, theirs = socket.socketpair()
    sender = Sender(ours)
    sender.form(form := Form(2, 2, 1, "yuv420p"))
    for rows in ((0, 2), (0, 0), (2, 2), (0, 2)):
        sender.frame(form.new_picture(), rows, 1)
    sender.end()
    frames = [part for part in Receiver(theirs, FRAMES_MAX).parts() if isinstance(part, Frame)]
    assert [frame.is_new for frame in frames] == [True, False, False, True]


def test_a_process_that_the_scene_has_forked_sends_nothing() -> None:
    ours, theirs = socket.socketpair()
    sender = Sender(ours)
    child = os.fork()
    if child == 0:
        sender.end()
        os._exit(0)
    os.waitpid(child, 0)
    ours.close()
    assert theirs.recv(1) == b""


def test_a_connection_that_ends_early_is_cut_off() -> None:
    for sent in (0, 1, 30, 60):
        ours, theirs = socket.socketpair()
        copy, reader = socket.socketpair()
        sender = Sender(copy)
        sender.form(form := Form(8, 8, 1, "rgba"))
        sender.frame(form.new_picture(), (0, 8), 1)
        ours.sendall(reader.recv(65_536)[:sent])
        ours.close()
        with pytest.raises(CutOffError):
            list(Receiver(theirs, FRAMES_MAX).parts())


def test_frames_are_limited() -> None:
    ours, theirs = socket.socketpair()
    sender = Sender(ours)
    sender.form(form := Form(2, 2, 1, "rgba"))
    sender.frame(form.new_picture(), (0, 2), FRAMES_MAX)
    sender.frame(form.new_picture(), (0, 0), 1)
    with pytest.raises(SceneError, match="longer than the limit of 1000 frames"):
        list(Receiver(theirs, FRAMES_MAX).parts())


def test_planes_are_those_of_the_picture() -> None:
    form = Form(4, 4, 1, "yuv420p")
    picture = form.new_picture()
    luma, blue, red = form.planes(picture)
    luma[:], blue[:], red[:] = 1, 2, 3
    np.testing.assert_array_equal(picture, [[1] * 4] * 4 + [[2] * 4] + [[3] * 4])
    assert [bytes(part) for part in form.parts(picture, (2, 4))] == [b"\1" * 8, b"\2" * 2, b"\3" * 2]
