"""The published video, written by our own muxer from checked packets only.

A scene can write anything into its video file. To publish only pictures and sound, every packet is copied
into a new file with the header, index and codec settings of the renderer's own encoders for this size and
rate; a video with other settings is rejected.

Besides the pictures, a scene only controls bytes in slices and AAC frames that decoders ignore; the maximum
size of a picture or frame limits them.
"""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

import av

from ..messages import InspectJob
from ..scene_error import SceneError, too_large, too_long
from ..video import mp4

_SLICE, _KEY_SLICE, _INFORMATION = 1, 5, 6  # types of NAL units
_UNIT_TYPE = 0x1F
_LENGTH_BYTES = 4
_START_CODE = b"\0\0\0\1"
_START_CODES = re.compile(rb"\x00\x00\x00?\x01")
# Encoders insert a byte where these would occur (ITU-T H.264, 7.4.1).
_NOT_IN_UNITS = re.compile(rb"\x00\x00[\x00-\x02]")
# x264 describes its settings in the first packet. It isn't published, since it can't be verified.
_INFORMATION_BYTES_MAX = 2048
# A macroblock, 16 by 16 pixels, has at most 3200 bits (ITU-T H.264, A.3.1).
_MACROBLOCK_PX, _MACROBLOCK_BYTES_MAX = 16, 400
_SLICE_HEADER_BYTES_MAX = 256
# On average over a video. The worst, noise of full contrast, takes 0.71 with the renderer's settings.
_BYTES_PER_PX_MAX = 1
_LARGEST_PICTURES = 4  # that may come before the average counts
# AAC: 6144 bits per channel (ISO/IEC 14496-3), and samples per frame.
SOUND_BYTES_MAX = 2 * 768
_SOUND_SAMPLES = 1024
# Additional frames before the first sample and after the last.
_SOUND_FRAMES_MORE = 4
# Maximum number of pictures that an H.264 decoder reorders (ITU-T H.264, A.3.1).
_PICTURES_HELD_MAX = 16
_HIGH_PROFILE, _HIGH_PROFILE_SETTINGS = 100, b"\xfd\xf8\xf8\0"  # 4:2:0 and 8 bits, no more sets


AnyPacket: TypeAlias = "av.Packet[av.stream.Stream]"


class Remuxer:
    """Copies checked packets into a new MP4.

    Raises SceneError for anything that our encoders don't write.
    """

    def __init__(self, path: Path, job: InspectJob, *, with_sound: bool) -> None:
        self._job = job
        self._container = mp4.create(path, job.fps)
        self._picture = mp4.add_video(self._container, job.width_px, job.height_px, job.fps)
        self._picture.codec_context.thread_count = 1  # it encodes nothing
        self._picture.codec_context.open()
        self._sound = add_sound(self._container) if with_sound else None
        self._picture_bytes_max = picture_bytes_max(job)
        self._size_bytes = 0
        self._picture_bytes = 0
        self._pictures = 0
        self._pictures_held = Fraction()
        self._sounds = 0

    @property
    def picture_settings(self) -> bytes:
        """The parameter sets of all pictures, with start codes."""
        assert self._picture.codec_context.extradata is not None
        return self._picture.codec_context.extradata

    def __enter__(self) -> "Remuxer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Complete the file."""
        self._container.close()

    def check_settings(self, source: av.container.InputContainer) -> None:
        """Check that the streams of a file have the settings of this one's."""
        _check_settings(source.streams.video[0], _as_in_mp4(self.picture_settings))
        if self._sound is not None:
            _check_settings(source.streams.audio[0], self._sound.codec_context.extradata)

    def add(self, packet: AnyPacket) -> None:
        """Check a packet of a file and append its pictures or its sound to this one."""
        if packet.is_corrupt or packet.has_sidedata("new_extradata"):
            raise SceneError("The video changes its settings while it plays.")
        if packet.stream.type == "video":
            self.add_picture(self.checked_picture(packet, _units_of_file(bytes(packet))))
        else:
            self.add_sound(self.checked_sound(packet))

    def add_picture(self, picture: AnyPacket) -> None:
        """Append a checked picture."""
        picture.stream = self._picture
        self._container.mux(picture)

    def add_sound(self, sound: AnyPacket) -> None:
        """Append a checked audio frame."""
        assert self._sound is not None
        sound.stream = self._sound
        self._container.mux(sound)

    def checked_picture(self, packet: AnyPacket, units: Iterable[bytes]) -> AnyPacket:
        """Return a packet of which only times and one slice are left. `units`: its NAL units."""
        self._count(packet)
        # Decoders drop pictures before the first key picture, so those that are shown aren't all.
        if self._pictures >= self._job.limits.frames:
            raise too_long(self._job.limits.frames)
        slices = list(_slices(units, first=self._pictures == 0))
        if len(slices) != 1 or len(slices[0]) > self._picture_bytes_max:
            raise SceneError("The video has a picture with more to it than the renderer's encoder writes.")
        self._check_picture_time(packet)
        self._pictures += 1
        self._picture_bytes += len(slices[0])
        if self._picture_bytes > pictures_bytes_max(self._job, self._pictures):
            raise SceneError("The video has pictures with more to them than the renderer's encoder writes.")
        # With start codes, as the muxer expects from encoders.
        fresh = _copy(_START_CODE + slices[0], packet)
        fresh.is_keyframe = slices[0][0] & _UNIT_TYPE == _KEY_SLICE
        return fresh

    def checked_sound(self, packet: AnyPacket) -> AnyPacket:
        """Return a packet of which only times and data are left."""
        self._count(packet)
        self._sounds += 1
        most = sound_frames_max(self._job.limits.frames, self._job.fps)
        if packet.size > SOUND_BYTES_MAX or self._sounds > most:
            raise SceneError("The video has more sound than the renderer's encoder writes.")
        self._check_sound_time(packet)
        fresh = _copy(bytes(packet), packet)
        fresh.is_keyframe = True
        return fresh

    def _count(self, packet: AnyPacket) -> None:
        self._size_bytes += packet.size
        if self._size_bytes > self._job.limits.output_bytes:
            raise too_large(self._job.limits.output_bytes)

    def _check_picture_time(self, packet: AnyPacket) -> None:
        """Check decode time and duration of a picture; `inspection` checks its presentation time."""
        assert packet.dts is not None
        assert packet.duration is not None
        frames = packet.time_base * self._job.fps
        due, shown = packet.dts * frames, packet.duration * frames
        if self._pictures == 0:
            self._pictures_held = -due
        is_in_turn = due == self._pictures - self._pictures_held and due.denominator == 1
        if not is_in_turn or not 0 <= self._pictures_held <= _PICTURES_HELD_MAX or shown != 1:
            raise SceneError(f"The video doesn't show {self._job.fps} frames in each second.")

    def _check_sound_time(self, packet: AnyPacket) -> None:
        """Check that an audio frame follows the previous one; the first is the encoder's delay."""
        assert packet.pts is not None
        assert packet.duration is not None
        samples = packet.time_base * mp4.SOUND_RATE_HZ
        is_in_turn = packet.dts == packet.pts and packet.pts * samples == (self._sounds - 2) * _SOUND_SAMPLES
        if not is_in_turn or packet.duration * samples > _SOUND_SAMPLES:
            raise SceneError("The video's sound has gaps.")

    def finish(self) -> None:
        """Check that the sound isn't longer than the picture, which is known only at the end."""
        if self._sounds > sound_frames_max(self._pictures, self._job.fps):
            raise SceneError("The video's sound is longer than its picture.")


def sound_frames_max(pictures: int, fps: int) -> int:
    """Return the maximum number of audio frames for a number of pictures."""
    return pictures * mp4.SOUND_RATE_HZ // (fps * _SOUND_SAMPLES) + _SOUND_FRAMES_MORE


def add_sound(container: av.container.OutputContainer) -> av.AudioStream:
    """Add a sound track to which packets of another are copied."""
    sound = mp4.add_sound(container)
    sound.codec_context.open()
    return sound


def units_of_stream(data: bytes) -> Iterator[bytes]:
    """Yield the NAL units of a packet of the encoder, which begin with start codes."""
    before, *units = _START_CODES.split(data)
    if before or not units:
        raise SceneError("The video can't be decoded: a picture has no beginning.")
    yield from units


def owned_packet(data: bytes) -> AnyPacket:
    """Return a packet with a copy of the data.

    A packet of bytes refers to them. A thread of a decoder that frees it waits for the lock of Python's
    interpreter, which a thread that closes the decoder holds until that thread ends.
    """
    packet: AnyPacket = av.Packet(len(data))
    if data:
        packet.update(data)
    return packet


def _copy(data: bytes, packet: AnyPacket) -> AnyPacket:
    """Return a packet with new data and only the times of another."""
    fresh = owned_packet(data)
    fresh.time_base = packet.time_base
    fresh.pts, fresh.dts, fresh.duration = packet.pts, packet.dts, packet.duration
    return fresh


def _units_of_file(data: bytes) -> Iterator[bytes]:
    """Yield the NAL units of a packet, each after its length."""
    place = 0
    while place < len(data):
        length = int.from_bytes(data[place : place + _LENGTH_BYTES])
        unit = data[place + _LENGTH_BYTES : place + _LENGTH_BYTES + length]
        place += _LENGTH_BYTES + length
        if len(unit) != length:
            raise SceneError("The video can't be decoded: a picture is incomplete.")
        yield unit


def _slices(units: Iterable[bytes], *, first: bool) -> Iterator[bytes]:
    """Yield the slices of a picture. It may contain nothing else, except encoder information in the first."""
    for unit in units:
        # No unit contains a start code, after which decoders and the muxer would see another one.
        if not unit or _NOT_IN_UNITS.search(unit):
            raise SceneError("The video can't be decoded: a picture is incomplete.")
        kind = unit[0] & _UNIT_TYPE
        if kind in (_SLICE, _KEY_SLICE):
            yield unit
        elif kind != _INFORMATION or not first or len(unit) > _INFORMATION_BYTES_MAX:
            raise SceneError("The video holds something else than pictures and sound.")


def picture_part_bytes_max(job: InspectJob) -> int:
    """Return the maximum size of a packet with a picture, start codes and encoder information."""
    return picture_bytes_max(job) + _INFORMATION_BYTES_MAX + 2 * len(_START_CODE)


def picture_bytes_max(job: InspectJob) -> int:
    """Return the maximum size of a picture."""
    columns, rows = -(-job.width_px // _MACROBLOCK_PX), -(-job.height_px // _MACROBLOCK_PX)
    return columns * rows * _MACROBLOCK_BYTES_MAX + _SLICE_HEADER_BYTES_MAX


def pictures_bytes_max(job: InspectJob, pictures: int) -> int:
    """Return the maximum size of the first pictures of a video together."""
    average = job.width_px * job.height_px * _BYTES_PER_PX_MAX
    return pictures * average + _LARGEST_PICTURES * picture_bytes_max(job)


def _check_settings(stream: "av.VideoStream | av.AudioStream", expected: bytes | None) -> None:
    if stream.codec_context.extradata != expected:
        raise SceneError("The video isn't encoded with the renderer's settings for what was asked for.")


def _as_in_mp4(sets: bytes | None) -> bytes:
    """Convert an encoder's parameter sets, one of each kind, to their MP4 format (ISO/IEC 14496-15)."""
    assert sets is not None
    sequence, picture = [part for part in _START_CODES.split(sets) if part]
    more = _HIGH_PROFILE_SETTINGS if sequence[1] == _HIGH_PROFILE else b""
    return b"".join(
        (
            bytes((1, *sequence[1:4], 0xFF, 0xE1)),
            len(sequence).to_bytes(2) + sequence,
            bytes((1,)) + len(picture).to_bytes(2) + picture,
            more,
        )
    )
