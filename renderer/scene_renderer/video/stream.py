"""The video on its way from a render to its inspection: packets of the encoders over a socket.

Each part has a head and data. The receiver trusts nothing: it limits the size of a part before it reads it.
"""

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import av

from ..scene_error import SceneError

# Kind, two numbers, length of the data.
_HEAD = struct.Struct(">cqqI")
_PICTURE, _SOUND, _END = b"P", b"S", b"E"


@dataclass(frozen=True)
class Picture:
    """A picture as the encoder wrote it, with start codes; times in frames."""

    data: bytes
    shown_at: int
    decoded_at: int


@dataclass(frozen=True)
class Sound:
    """An audio frame; times in samples."""

    data: bytes
    begins_at: int
    duration: int


@dataclass(frozen=True)
class End:
    """The end of the video, and its captions: a WebVTT file, or nothing."""

    captions: bytes


@dataclass(frozen=True)
class Most:
    """The maximum numbers of bytes of the parts."""

    picture: int
    sound: int
    captions: int


class Sender:
    """The end of a render. Its methods raise OSError when the inspection has ended.

    They do nothing in a process that the scene has forked, whose copy of the movie is not finished.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._process = os.getpid()

    def picture(self, packet: "av.Packet[Any]") -> None:
        """Send a packet of the video encoder, whose time base is a frame."""
        assert packet.pts is not None
        assert packet.dts is not None
        self._send(_PICTURE, packet.pts, packet.dts, bytes(packet))

    def sound(self, packet: "av.Packet[Any]") -> None:
        """Send a packet of the audio encoder, whose time base is a sample."""
        assert packet.pts is not None
        assert packet.duration is not None
        self._send(_SOUND, packet.pts, packet.duration, bytes(packet))

    def end(self, captions: str) -> None:
        """Send the captions; the video is complete."""
        self._send(_END, 0, 0, captions.encode("utf-8", "replace"))

    def _send(self, kind: bytes, first: int, second: int, data: bytes) -> None:
        if os.getpid() == self._process:
            self._connection.sendall(_HEAD.pack(kind, first, second, len(data)) + data)


def receive(connection: socket.socket, most: Most) -> Iterator[Picture | Sound | End]:
    """Yield the parts of a video until its end. Raises SceneError if something else comes."""
    with connection.makefile("rb") as file:
        while True:
            kind, first, second, length = _HEAD.unpack(_read(file, _HEAD.size))
            if kind == _PICTURE:
                yield Picture(_read(file, length, most.picture), first, second)
            elif kind == _SOUND:
                yield Sound(_read(file, length, most.sound), first, second)
            elif kind == _END:
                yield End(_read(file, length, most.captions))
                return
            else:
                raise SceneError("The video holds something else than pictures, sound and captions.")


def _read(file: BinaryIO, length: int, most: int = _HEAD.size) -> bytes:
    if length > most:
        raise SceneError("The video holds a part with more to it than the renderer writes.")
    data = file.read(length)
    if len(data) < length:
        raise SceneError("The video is incomplete: it ends too early.")
    return data
