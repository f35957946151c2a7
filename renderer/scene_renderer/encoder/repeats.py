"""Pictures that repeat the one before them, without encoding them.

A scene that waits shows one picture for seconds. x264 takes a millisecond or more of each repetition,
although all that it writes is a slice of a few dozen bytes that skips every macroblock. Here such a slice is
made once, by the same encoder from two equal pictures, and inserted with a frame number of its own. The
pictures that follow are renumbered.

This needs an encoder that refers only to the previous picture, and returns pictures in the order in which
they are shown, each as one slice (`mp4.OPTIONS`: no B-frames; threads for frames): then a repetition is
nothing more than the next reference picture.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import av
from av.video.frame import PictureType

from . import mp4

# Frames between pictures that players can seek to, at most: the limit of x264, which sees no repetitions.
KEY_INTERVAL = 250
# Types of NAL units. x264 describes its settings in one of information, which no player needs.
_SLICE, _KEY_SLICE, _INFORMATION, _SEQUENCE_SETTINGS = 1, 5, 6, 7
_UNIT_TYPE = 0x1F
_START_CODE = b"\0\0\0\1"
_START_CODES = re.compile(rb"\x00\x00\x00?\x01")
# The byte that keeps start codes out of units, and its places (ITU-T H.264, 7.4.1).
_INSERTED = re.compile(rb"(?<=\x00\x00)\x03")
_PLACES = re.compile(rb"\x00\x00(?=[\x00-\x03])")
_HIGH_PROFILE = 100
_GREY = 128
# Size of a slice that skips all macroblocks: about a sixteenth of a bit for each.
_HEADER_BYTES_MAX, _MACROBLOCKS_PER_BYTE = 16, 128
_MACROBLOCK_PX = 16 * 16

Packet: TypeAlias = "av.Packet[Any]"


class Encoder:
    """Encodes the pictures of a video track."""

    def __init__(self, stream: av.VideoStream) -> None:
        self._stream = stream
        self._shown = 0  # frames

    def show(self, picture: av.VideoFrame, count: int, *, is_new: bool) -> Iterator[Packet]:
        """Show a picture for a number of frames. If it isn't new, it equals the one before.

        Yields the packets that are complete, of earlier pictures and possibly of this one.
        """
        for _ in range(count):
            picture.pts = self._shown
            self._shown += 1
            yield from self._stream.encode(picture)

    def finish(self) -> Iterator[Packet]:
        """Yield the remaining packets."""
        yield from self._stream.encode(None)


class RepeatingEncoder(Encoder):
    """An encoder for which repetitions cost next to nothing.

    `options`: the options of the stream's encoder, which must refer only to the previous picture.
    """

    def __init__(self, stream: av.VideoStream, options: dict[str, str] = mp4.OPTIONS) -> None:
        super().__init__(stream)
        self._options = options
        self._returned = 0  # packets
        self._until_key = 0
        # How often each picture in the encoder is repeated.
        self._repetitions: deque[int] = deque()
        self._numbers: _FrameNumbers | None = None

    def show(self, picture: av.VideoFrame, count: int, *, is_new: bool) -> Iterator[Packet]:
        """Show a picture for a number of frames. If it isn't new, it equals the one before."""
        while count:
            if is_new or not self._until_key:
                is_new, shown = False, 1
                yield from self._encode(picture)
            else:
                shown = min(count, self._until_key)
                yield from self._repeat(shown)
            count -= shown
            self._until_key -= shown
            self._shown += shown

    def finish(self) -> Iterator[Packet]:
        """Yield the remaining packets."""
        yield from self._numbered(self._stream.encode(None))

    def _encode(self, picture: av.VideoFrame) -> Iterator[Packet]:
        picture.pts = self._shown
        picture.pict_type = PictureType.NONE if self._until_key else PictureType.I
        self._until_key = self._until_key or KEY_INTERVAL
        self._repetitions.append(0)
        yield from self._numbered(self._stream.encode(picture))

    def _repeat(self, count: int) -> Iterator[Packet]:
        if self._repetitions:
            self._repetitions[-1] += count
        else:
            yield from self._repeated(count)

    def _numbered(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        for packet in packets:
            if self._numbers is None:
                self._numbers = _FrameNumbers(self._stream.codec_context, self._options)
            yield self._packet(self._numbers.renumbered(bytes(packet)), is_key=packet.is_keyframe)
            yield from self._repeated(self._repetitions.popleft())

    def _repeated(self, count: int) -> Iterator[Packet]:
        assert self._numbers is not None
        for _ in range(count):
            yield self._packet(self._numbers.repetition(), is_key=False)

    def _packet(self, data: bytes, *, is_key: bool) -> Packet:
        packet: Packet = av.Packet(data)
        packet.stream = self._stream
        packet.time_base = self._stream.codec_context.time_base
        packet.pts = packet.dts = self._returned
        packet.duration = 1
        packet.is_keyframe = is_key
        self._returned += 1
        return packet


class _FrameNumbers:
    """The frame numbers of an encoder's pictures and of repetitions between them."""

    def __init__(self, encoder: av.VideoCodecContext, options: dict[str, str]) -> None:
        assert encoder.extradata is not None
        self._encoder = encoder
        self._options = options
        self._bits = _frame_number_bits(encoder.extradata)
        self._inserted = 0  # since the last key picture
        self._last = 0
        self._skipping: bytes | None = None

    def renumbered(self, packet: bytes) -> bytes:
        """Return the next packet of the encoder with the number that its picture has in the video."""
        before, *units = _START_CODES.split(packet)
        assert not before
        kept = (unit for unit in units if unit[0] & _UNIT_TYPE != _INFORMATION)
        return b"".join(_START_CODE + self._renumbered(unit) for unit in kept)

    def repetition(self) -> bytes:
        """Return a packet that shows the last picture once more."""
        if self._skipping is None:
            self._skipping = _skipping_slice(self._encoder, self._options)
        self._inserted += 1
        return _START_CODE + self._with_next_number(self._skipping)

    def _renumbered(self, unit: bytes) -> bytes:
        kind = unit[0] & _UNIT_TYPE
        if kind == _KEY_SLICE:
            self._inserted = self._last = 0
        if kind != _SLICE:
            return unit
        if self._inserted:
            return self._with_next_number(unit)
        self._last += 1
        return unit

    def _with_next_number(self, unit: bytes) -> bytes:
        """Return a slice with the next frame number (7.3.3)."""
        self._last += 1
        data = _INSERTED.sub(b"", unit)
        bits = _Bits(data)
        bits.fixed(8)
        for _ in range(3):  # first macroblock, type, parameter set
            bits.exponential()
        before = bits.fixed(self._bits)
        number = self._last % (1 << self._bits)
        changed = bits.value ^ (before ^ number) << bits.left
        return _PLACES.sub(b"\0\0\3", changed.to_bytes(len(data)))


class _Bits:
    """Reads numbers of a NAL unit without inserted bytes."""

    def __init__(self, data: bytes) -> None:
        self.value = int.from_bytes(data)
        self.left = len(data) * 8

    def fixed(self, length: int) -> int:
        self.left -= length
        return self.value >> self.left & (1 << length) - 1

    def exponential(self) -> int:
        """Read an unsigned Exp-Golomb code (9.1)."""
        zeros = 0
        while not self.fixed(1):
            zeros += 1
        return (1 << zeros) - 1 + self.fixed(zeros)


def _frame_number_bits(settings: bytes) -> int:
    """Return the length of frame numbers from an encoder's parameter sets (7.3.2.1.1).

    Fails if they allow other references or another order of pictures than described above.
    """
    units = _START_CODES.split(settings)
    sequence = next(unit for unit in units if unit and unit[0] & _UNIT_TYPE == _SEQUENCE_SETTINGS)
    bits = _Bits(_INSERTED.sub(b"", sequence))
    bits.fixed(8)
    assert bits.fixed(8) < _HIGH_PROFILE  # higher profiles have more fields here
    bits.fixed(16)
    bits.exponential()
    length = bits.exponential() + 4
    assert bits.exponential() == 2  # pictures are shown in the order of their numbers
    assert bits.exponential() == 1  # reference picture
    return length


def _skipping_slice(encoder: av.VideoCodecContext, options: dict[str, str]) -> bytes:
    """Return a slice that changes nothing in the previous picture, made by an encoder with equal settings."""
    twin = av.CodecContext.create(encoder.name, "w")
    assert isinstance(twin, av.VideoCodecContext)
    twin.width, twin.height, twin.pix_fmt = encoder.width, encoder.height, encoder.pix_fmt
    twin.time_base, twin.framerate = encoder.time_base, encoder.framerate
    twin.colorspace, twin.color_range = encoder.colorspace, encoder.color_range
    twin.options, twin.flags, twin.thread_count = options, encoder.flags, 1
    picture = av.VideoFrame(encoder.width, encoder.height, "yuv420p")
    for plane in picture.planes:
        plane.update(bytes([_GREY]) * plane.buffer_size)
    packets: list[Packet] = []
    for number in range(2):
        picture.pts = number
        packets += twin.encode(picture)
    packets += twin.encode(None)
    assert twin.extradata == encoder.extradata
    _, unit = _START_CODES.split(bytes(packets[1]))
    assert unit[0] & _UNIT_TYPE == _SLICE
    macroblocks = encoder.width * encoder.height // _MACROBLOCK_PX
    assert len(unit) <= _HEADER_BYTES_MAX + macroblocks // _MACROBLOCKS_PER_BYTE
    return unit
