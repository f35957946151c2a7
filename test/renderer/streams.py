"""The service's side of streams of videos: what renders send is recorded, and inspections receive it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from client import TIMEOUT_S, Message, Outcome, Zygote
from scene_renderer.video.stream import _HEAD

Part = tuple[bytes, int, int, bytes]


@contextmanager
def listening(folder: Path) -> Iterator[socket.socket]:
    """A socket that listens in a folder."""
    path = folder / "stream"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(1)
        listener.settimeout(TIMEOUT_S)
        yield listener
    path.unlink()


def record(zygote: Zygote, folder: Path, job: Message) -> tuple[bytes, Outcome]:
    """Run a render; return what it sent for its inspection, and its outcome."""
    received = bytearray()

    def read(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while chunk := connection.recv(65_536):
                received.extend(chunk)

    with listening(folder) as listener:
        reader = threading.Thread(target=read, args=[listener])
        reader.start()
        outcome = zygote.run(folder, job, stream=listener)
        reader.join(TIMEOUT_S)
    return bytes(received), outcome


def inspect(inspector: Zygote, folder: Path, job: Message, data: bytes) -> Outcome:
    """Send data to an inspection, as far as it accepts it, and close the connection."""

    def send(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                return  # it has refused it

    with listening(folder) as listener:
        sender = threading.Thread(target=send, args=[listener])
        sender.start()
        outcome = inspector.run(folder, job, stream=listener)
        sender.join(TIMEOUT_S)
    return outcome


def parts_of(data: bytes) -> list[Part]:
    """The parts of a stream: kind, two numbers and data."""
    parts = []
    while data:
        kind, first, second, length = _HEAD.unpack(data[: _HEAD.size])
        parts.append((kind, first, second, data[_HEAD.size : _HEAD.size + length]))
        data = data[_HEAD.size + length :]
    return parts


def stream_of(parts: list[Part]) -> bytes:
    """The stream with these parts."""
    heads = (_HEAD.pack(kind, first, second, len(data)) for kind, first, second, data in parts)
    return b"".join(head + data for head, (_, _, _, data) in zip(heads, parts, strict=True))
