"""Pictures that need no encoding: repetitions of the one before them, and copies from an earlier video.

A scene that waits shows one picture for seconds. x264 takes a millisecond or more of each repetition,
although all that it writes is a slice of a few dozen bytes that skips every macroblock. Here such a slice is
made once, by the same encoder from two equal pictures, and inserted with a frame number of its own. The
pictures that follow are renumbered.

This needs an encoder that refers only to the previous picture, and returns pictures in the order in which
they are shown, each as one slice (`mp4.OPTIONS`: no B-frames; threads for frames): then a repetition is
nothing more than the next reference picture. And then every run of packets that begins with a key picture can
be inserted as it is, if a key picture follows.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import av
from av.video.frame import PictureType

from . import mp4, slices

# Frames between pictures that players can seek to, at most: the limit of x264, which sees no repetitions.
KEY_INTERVAL = 250
# A play begins with a key picture if the last one is so many frames ago: from there on, an edited video can
# equal the one before it again.
_PLAY_INTERVAL = 120
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

    def show(
        self, picture: av.VideoFrame, count: int, *, is_new: bool, begins_play: bool = False
    ) -> Iterator[Packet]:
        """Show a picture for a number of frames. If it isn't new, it equals the one before.

        Yields the packets that are complete, of earlier pictures and possibly of this one.
        """
        for _ in range(count):
            picture.pts = self._shown
            picture.pict_type = PictureType.NONE  # other encoders may have been given the same picture
            self._shown += 1
            yield from self._stream.encode(picture)

    def finish(self) -> Iterator[Packet]:
        """Yield the remaining packets."""
        yield from self._stream.encode(None)


@dataclass(frozen=True)
class Copy:
    """A packet of an earlier video with equal settings, as an encoder writes it."""

    data: bytes
    is_key: bool


class RepeatingEncoder(Encoder):
    """An encoder for which repetitions and copies cost next to nothing.

    `options`: the options of the stream's encoder, which must refer only to the previous picture.
    """

    def __init__(self, stream: av.VideoStream, options: dict[str, str] = mp4.OPTIONS) -> None:
        super().__init__(stream)
        self._options = options
        self._returned = 0  # packets
        self._until_key = 0
        # What follows each picture that is in the encoder: numbers of repetitions, and copies.
        self._insertions: deque[list[int | Copy]] = deque()
        self._numbers: _Numbers | None = None

    def show(
        self, picture: av.VideoFrame, count: int, *, is_new: bool, begins_play: bool = False
    ) -> Iterator[Packet]:
        """Show a picture for a number of frames. If it isn't new, it equals the one before."""
        since_key = KEY_INTERVAL - self._until_key
        if begins_play and since_key >= _PLAY_INTERVAL:
            self._until_key = 0
        while count:
            if is_new or not self._until_key:
                is_new, shown = False, 1
                yield from self._encode(picture)
            else:
                shown = min(count, self._until_key)
                yield from self._insert(shown)
            count -= shown
            self._until_key -= shown
            self._shown += shown

    def copy(self, copy: Copy) -> Iterator[Packet]:
        """Show the next picture of an earlier video: a key picture, or the one after the last copied one."""
        self._until_key = 0
        self._shown += 1
        yield from self._insert(copy)

    def finish(self) -> Iterator[Packet]:
        """Yield the remaining packets."""
        if self._insertions:
            yield from self._numbered(self._stream.encode(None))

    def _encode(self, picture: av.VideoFrame) -> Iterator[Packet]:
        picture.pts = self._shown
        picture.pict_type = PictureType.NONE if self._until_key else PictureType.I
        self._until_key = self._until_key or KEY_INTERVAL
        self._insertions.append([])
        yield from self._numbered(self._stream.encode(picture))

    def _insert(self, inserted: int | Copy) -> Iterator[Packet]:
        if self._insertions:
            self._insertions[-1].append(inserted)
        else:
            yield from self._inserted(inserted)

    def _numbered(self, packets: Iterable[Packet]) -> Iterator[Packet]:
        for packet in packets:
            yield self._packet(self._numbering().renumbered(bytes(packet)), is_key=packet.is_keyframe)
            for inserted in self._insertions.popleft():
                yield from self._inserted(inserted)

    def _inserted(self, inserted: int | Copy) -> Iterator[Packet]:
        if isinstance(inserted, Copy):
            yield self._packet(self._numbering().copied(inserted.data), is_key=inserted.is_key)
            return
        for _ in range(inserted):
            yield self._packet(self._numbering().repetition(), is_key=False)

    def _numbering(self) -> "_Numbers":
        if self._numbers is None:
            self._numbers = _Numbers(self._stream.codec_context, self._options)
        return self._numbers

    def _packet(self, data: bytes, *, is_key: bool) -> Packet:
        packet: Packet = av.Packet(data)
        packet.stream = self._stream
        packet.time_base = self._stream.codec_context.time_base
        packet.pts = packet.dts = self._returned
        packet.duration = 1
        packet.is_keyframe = is_key
        self._returned += 1
        return packet


class _Numbers:
    """The numbers of an encoder's pictures and of those between them."""

    def __init__(self, encoder: av.VideoCodecContext, options: dict[str, str]) -> None:
        assert encoder.extradata is not None
        self._encoder = encoder
        self._options = options
        self._bits = slices.frame_number_bits(encoder.extradata)
        self._inserted = 0  # since the last key picture
        self._last = 0
        self._skipping: bytes | None = None
        self._key: int | None = None  # of the last picture, if it is a key picture

    def renumbered(self, packet: bytes) -> bytes:
        """Return the next packet of the encoder with the number that its picture has in the video."""
        units = (unit for unit in slices.units_of(packet) if slices.type_of(unit) != slices.INFORMATION)
        return slices.joined(self._renumbered(unit) for unit in units)

    def repetition(self) -> bytes:
        """Return a packet that shows the last picture once more."""
        if self._skipping is None:
            self._skipping = _skipping_slice(self._encoder, self._options)
        self._inserted += 1
        return slices.joined(iter([self._with_next_number(self._skipping)]))

    def copied(self, packet: bytes) -> bytes:
        """Return a packet of an earlier video, whose pictures keep their numbers."""
        return slices.joined(self._with_key_number(unit) for unit in slices.units_of(packet))

    def _renumbered(self, unit: bytes) -> bytes:
        kind = slices.type_of(unit)
        if kind == slices.KEY_SLICE:
            self._inserted = self._last = 0
        if kind != slices.SLICE:
            return self._with_key_number(unit)
        if self._inserted:
            return self._with_next_number(unit)
        self._key = None
        self._last += 1
        return unit

    def _with_next_number(self, unit: bytes) -> bytes:
        """Return a slice with the next frame number."""
        self._key = None
        self._last += 1
        return slices.with_frame_number(unit, self._last, self._bits)

    def _with_key_number(self, unit: bytes) -> bytes:
        """Return a key slice that differs in its number from a key slice right before it (7.4.3)."""
        before, self._key = self._key, None
        if slices.type_of(unit) != slices.KEY_SLICE:
            return unit
        number = slices.key_number(unit, self._bits)
        if number == before:
            number = 1 - min(number, 1)
            unit = slices.with_key_number(unit, number, self._bits)
        self._key = number
        return unit


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
    (unit,) = slices.units_of(bytes(packets[1]))
    assert slices.type_of(unit) == slices.SLICE
    macroblocks = encoder.width * encoder.height // _MACROBLOCK_PX
    assert len(unit) <= _HEADER_BYTES_MAX + macroblocks // _MACROBLOCKS_PER_BYTE
    return unit
