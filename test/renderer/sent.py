"""Encode jobs, and what is sent to them instead of the frames of a render."""

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from client import TIMEOUT_S, Message, Outcome, Zygote, encode_job, render_job
from scene_renderer.video.frames import _HEAD, Form
from sources import SQUARE

SIZE = Form(128, 72, 10, "yuv420p")
JOB = encode_job(render_job(SQUARE))
Sending = Callable[[socket.socket], None]


def encoded(encoder: Zygote, folder: Path, send: Sending, job: Message = JOB) -> Outcome:
    """Run an encode job with what `send` sends before it closes the connection."""
    path = folder / "frames"
    channel = encoder.start(folder, job, frames=str(path))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(path))
        with suppress(BrokenPipeError, ConnectionResetError):  # it has been refused
            send(connection)
    with suppress(BrokenPipeError):
        channel.socket.sendall(b'{"type":"renderEnded"}\n')
    return encoder.finish(channel)


def head(kind: bytes, *numbers: int) -> bytes:
    return _HEAD.pack(kind, *(*numbers, 0, 0, 0)[:3])
