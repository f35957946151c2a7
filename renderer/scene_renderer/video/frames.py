"""What leaves the process of a scene: pixels, sound and captions, over a socket to the encoder's process.

First comes the form of all pictures. Then come frames, each as the one range of rows in which it may differ
from the frame before it, and among them the sections of the scene, and marks of frames that also become
pictures; then sound as PCM, captions and the end.

Each part has a head of a fixed size, with up to three numbers. The receiver trusts nothing: it limits every
number before it uses it, and knows from the form how many bytes the rows of a frame have.
"""

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..scene_error import SceneError, too_long

_HEAD = struct.Struct(">cQQQ")
_FORM, _FRAME, _MARK, _SECTION, _SOUND, _CUE, _END = b"O", b"F", b"M", b"S", b"P", b"C", b"E"
_TIMES = struct.Struct(">dd")
_SECTION_BYTES_MAX = 4096 + 4 * 8192
_NOTES_CHARACTERS_MAX = 8192
_SOUND_BYTES_AT_ONCE = 262_144
_SOUND_FRAME_BYTES = 4  # stereo, 16 bits
_SOUND_RATE_HZ_MAX = 192_000
_CUES_MAX = 50_000
_CUE_CHARACTERS_MAX = 20_000
_CUES_BYTES_MAX = 16_777_216
_SECTIONS_MAX = 10_000
_SIDE_PX_MAX = 16_384

PixelFormat = Literal["yuv420p", "rgba"]
_FORMATS: tuple[PixelFormat, ...] = ("yuv420p", "rgba")
Pixels: TypeAlias = npt.NDArray[np.uint8]
Rows: TypeAlias = tuple[int, int]  # the first, and the one after the last


@dataclass(frozen=True)
class Form:
    """The size of all pictures in pixels, frames per second, and what pixels are sent."""

    width_px: int
    height_px: int
    fps: int
    pixels: PixelFormat

    def new_picture(self) -> Pixels:
        """Return memory for a picture: height by width by RGBA, or the rows of Y, U and V in turn."""
        if self.pixels == "rgba":
            return np.zeros((self.height_px, self.width_px, 4), np.uint8)
        return np.zeros((self.height_px * 3 // 2, self.width_px), np.uint8)

    def planes(self, picture: Pixels) -> list[Pixels]:
        """Return the planes of a picture, without copying: rows by bytes."""
        if self.pixels == "rgba":
            return [picture.reshape(self.height_px, -1)]
        luma = self.height_px * self.width_px
        data = picture.reshape(-1)
        chroma = data[luma:].reshape(2, self.height_px // 2, self.width_px // 2)
        return [data[:luma].reshape(self.height_px, self.width_px), chroma[0], chroma[1]]

    def parts(self, picture: Pixels, rows: Rows) -> Iterator[memoryview]:
        """Yield the memory of some rows of each plane."""
        first, end = rows
        if rows == (0, self.height_px):
            yield picture.reshape(-1).data
        elif first < end:
            for plane in self.planes(picture):
                step = self.height_px // plane.shape[0]
                yield plane[first // step : end // step].reshape(-1).data


@dataclass(frozen=True)
class Frame:
    """The picture of a number of frames, which the receiver holds. `rows`: those that may have changed."""

    count: int
    rows: Rows
    begins_play: bool = False

    @property
    def is_new(self) -> bool:
        """Whether it may differ from the one before."""
        return self.rows[0] < self.rows[1]


@dataclass(frozen=True)
class Mark:
    """The last frame is one that was chosen to become a picture. `number`: which one."""

    number: int


@dataclass(frozen=True)
class Section:
    """A section of the scene begins with the next frame.

    `video`: the name of its file; None: it has none. `notes`: of a slide, for the speaker.
    """

    name: str
    kind: str
    video: str | None
    notes: str = ""


@dataclass(frozen=True)
class Sound:
    """The next part of the sound: stereo, 16 bits, so many times a second."""

    rate_hz: int
    data: bytes


@dataclass(frozen=True)
class Cue:
    """One caption: start and end in seconds of the video, and its text."""

    start_s: float
    end_s: float
    text: str


Part: TypeAlias = Form | Frame | Mark | Section | Sound | Cue


class CutOffError(Exception):
    """The sender has closed its end before the end of the video."""


class Sender:
    """The end of a render. Its methods raise OSError when the encoder's process has ended.

    They do nothing without a connection, and in a process that the scene has forked, whose copy of the movie
    is not finished.
    """

    def __init__(self, connection: socket.socket | None) -> None:
        self._connection = connection
        self._process = os.getpid()
        self._form: Form | None = None

    def form(self, form: Form) -> None:
        """Declare the form of all pictures, once."""
        self._form = form
        self._send(_FORM, form.width_px, form.height_px, form.fps << 1 | _FORMATS.index(form.pixels))

    def frame(self, picture: Pixels, rows: Rows, count: int, *, begins_play: bool = False) -> None:
        """Show a picture, which differs from the one before only in some rows, for a number of frames."""
        assert self._form
        self._send(_FRAME, *rows, count << 1 | begins_play, *self._form.parts(picture, rows))

    def mark(self, number: int) -> None:
        """Say that the last frame is one that was chosen."""
        self._send(_MARK, number, 0, 0)

    def section(self, section: Section) -> None:
        """Begin a section."""
        texts = (section.name, section.kind, section.video or "", section.notes[:_NOTES_CHARACTERS_MAX])
        data = "\0".join(texts).encode("utf-8", "replace")
        self._send(_SECTION, len(data), 0, 0, data)

    def sound(self, rate_hz: int, data: bytes) -> None:
        """Send the whole sound: stereo, 16 bits."""
        for start in range(0, len(data), _SOUND_BYTES_AT_ONCE):
            part = data[start : start + _SOUND_BYTES_AT_ONCE]
            self._send(_SOUND, rate_hz, len(part), 0, part)

    def cue(self, cue: Cue) -> None:
        """Send a caption."""
        data = _TIMES.pack(cue.start_s, cue.end_s) + cue.text.encode("utf-8", "replace")
        self._send(_CUE, len(data), 0, 0, data)

    def end(self) -> None:
        """Say that the video is complete."""
        self._send(_END, 0, 0, 0)

    def _send(self, kind: bytes, first: int, second: int, third: int, *data: bytes | memoryview) -> None:
        if self._connection is None or os.getpid() != self._process:
            return
        self._connection.sendall(_HEAD.pack(kind, first, second, third))
        for part in data:
            self._connection.sendall(part)


class Receiver:
    """The end of the encoder's process, with the picture that the last frame showed.

    `frames_max`: the most frames of a video; `marks`: how many frames are chosen, each of which is marked at
    most once. Its methods raise SceneError for anything that a render doesn't send, and CutOffError if it
    sends nothing more before the end.
    """

    def __init__(self, connection: socket.socket, frames_max: int, marks: int = 0) -> None:
        self.form: Form | None = None
        self.picture: Pixels = np.zeros(0, np.uint8)
        self.frames = 0
        self._connection = connection
        self._frames_max = frames_max
        self._unmarked = set(range(marks))
        self._head = bytearray(_HEAD.size)
        self._sound: tuple[int, int] | None = None  # rate, and bytes so far
        self._cues = self._cue_bytes = self._sections = 0

    def parts(self) -> Iterator[Part]:
        """Yield the parts of a video until its end."""
        while True:
            self._read_into(memoryview(self._head))
            kind, first, second, third = _HEAD.unpack(self._head)
            if kind == _END:
                return
            yield self._part(kind, first, second, third)

    def _part(self, kind: bytes, first: int, second: int, third: int) -> Part:
        if kind == _FORM and self.form is None:
            return self._receive_form(first, second, third)
        if self.form is None:
            raise _strange()
        if kind == _FRAME and self._sound is None:
            return self._receive_frame(self.form, (first, second), third >> 1, begins_play=bool(third & 1))
        if kind == _MARK and self.frames and first in self._unmarked:
            self._unmarked.remove(first)
            return Mark(first)
        if kind == _SECTION:
            return self._receive_section(first)
        if kind == _SOUND:
            return self._receive_sound(self.form, first, second)
        if kind == _CUE:
            return self._receive_cue(first)
        raise _strange()

    def _receive_form(self, width_px: int, height_px: int, rate: int) -> Form:
        form = Form(width_px, height_px, rate >> 1, _FORMATS[rate & 1])
        if not 0 < form.fps <= self._frames_max:
            raise too_long(self._frames_max)
        if not (0 < width_px <= _SIDE_PX_MAX and 0 < height_px <= _SIDE_PX_MAX):
            raise SceneError(f"A video can't have {width_px} by {height_px} pixels.")
        if form.pixels == "yuv420p" and (width_px % 2 or height_px % 2):
            raise _strange()
        self.form, self.picture = form, form.new_picture()
        return form

    def _receive_frame(self, form: Form, rows: Rows, count: int, *, begins_play: bool) -> Frame:
        first, end = rows
        step = 2 if form.pixels == "yuv420p" else 1
        if not 0 <= first <= end <= form.height_px or first % step or end % step or count < 1:
            raise _strange()
        if count > self._frames_max - self.frames:
            raise too_long(self._frames_max)
        for part in form.parts(self.picture, rows):
            self._read_into(part)
        if self.frames == 0:
            rows = 0, form.height_px
        self.frames += count
        return Frame(count, rows, begins_play)

    def _receive_sound(self, form: Form, rate_hz: int, length: int) -> Sound:
        before_hz, so_far = self._sound or (rate_hz, 0)
        if (
            rate_hz != before_hz
            or not 0 < rate_hz <= _SOUND_RATE_HZ_MAX
            or not length
            or length % _SOUND_FRAME_BYTES
        ):
            raise _strange()
        self._sound = rate_hz, so_far + length
        if (so_far + length) * form.fps > self.frames * rate_hz * _SOUND_FRAME_BYTES:
            raise SceneError("The sound is longer than the video.")
        return Sound(rate_hz, self._read(length, _SOUND_BYTES_AT_ONCE))

    def _receive_cue(self, length: int) -> Cue:
        if self._cues == _CUES_MAX:
            raise SceneError(f"There are more than {_CUES_MAX} captions.")
        if length < _TIMES.size:
            raise _strange()
        self._cues += 1
        self._cue_bytes += length
        if self._cue_bytes > _CUES_BYTES_MAX:
            raise SceneError("The captions are too large.")
        data = self._read(length, _CUES_BYTES_MAX)
        start_s, end_s = _TIMES.unpack_from(data)
        text = data[_TIMES.size :].decode("utf-8", "replace")
        if len(text) > _CUE_CHARACTERS_MAX:
            raise SceneError(f"A caption has more than {_CUE_CHARACTERS_MAX} characters.")
        return Cue(start_s, end_s, text)

    def _receive_section(self, length: int) -> Section:
        self._sections += 1
        if self._sections > _SECTIONS_MAX:
            raise SceneError(f"There are more than {_SECTIONS_MAX} sections.")
        return _section(self._read(length, _SECTION_BYTES_MAX))

    def _read(self, length: int, most: int) -> bytes:
        if length > most:
            raise _strange()
        data = bytearray(length)
        self._read_into(memoryview(data))
        return bytes(data)

    def _read_into(self, view: memoryview) -> None:
        while view:
            try:
                received = self._connection.recv_into(view, 0, socket.MSG_WAITALL)
            except ConnectionResetError:  # killed with something left to read
                received = 0
            if not received:
                raise CutOffError
            view = view[received:]


def _section(data: bytes) -> Section:
    texts = data.decode("utf-8", "replace").split("\0")
    if len(texts) != 4:
        raise _strange()
    name, kind, video, notes = texts
    return Section(name, kind, video or None, notes)


def _strange() -> SceneError:
    return SceneError("The scene's process sent something else than the renderer sends.")
