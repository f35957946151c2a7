"""The published video, written by our own muxer from checked packets only.

A scene can write anything into its video file. To publish only pictures and sound, every packet is copied
into a new file with the header, index and codec settings of the renderer's own encoders for this size and
rate; a video with other settings is rejected.

Besides the pictures, a scene only controls bytes in slices and AAC frames that decoders ignore; the maximum
size of a picture or frame limits them.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av

from . import mp4
from .errors import SceneError, too_large
from .messages import InspectJob

_SLICE, _KEY_SLICE, _INFORMATION = 1, 5, 6  # types of NAL units
_UNIT_TYPE = 0x1F
_LENGTH_BYTES = 4
_START_CODE = b"\0\0\0\1"
# x264 describes its settings in the first packet. It isn't published, since it can't be verified.
_INFORMATION_BYTES_MAX = 2048
# A macroblock, 16 by 16 pixels, has at most 3200 bits (ITU-T H.264, A.3.1).
_MACROBLOCK_PX, _MACROBLOCK_BYTES_MAX = 16, 400
_SLICE_HEADER_BYTES_MAX = 256
# AAC: 6144 bits per channel (ISO/IEC 14496-3), and samples per frame.
_SOUND_BYTES_MAX = 2 * 768
_SOUND_SAMPLES = 1024
# Additional frames before the first sample and after the last.
_SOUND_FRAMES_MORE = 4
# Maximum number of pictures that an H.264 decoder reorders (ITU-T H.264, A.3.1).
_PICTURES_HELD_MAX = 16
_HIGH_PROFILE, _HIGH_PROFILE_SETTINGS = 100, b"\xfd\xf8\xf8\0"  # 4:2:0 and 8 bits, no more sets


class Remuxer:
    """Copies packets of `source` into a new MP4.

    Raises SceneError for anything that our encoders don't write.
    """

    def __init__(self, path: Path, source: av.container.InputContainer, job: InspectJob) -> None:
        self._job = job
        self._container = mp4.create(path, job.fps)
        self._picture = mp4.add_video(self._container, job.width_px, job.height_px, job.fps)
        self._picture.codec_context.thread_count = 1  # it encodes nothing
        self._picture.codec_context.open()
        self._sound = None
        if source.streams.audio:
            self._sound = mp4.add_sound(self._container)
            self._sound.codec_context.open()
            _check_settings(source.streams.audio[0], self._sound.codec_context.extradata)
        _check_settings(source.streams.video[0], _as_in_mp4(self._picture.codec_context.extradata))
        self._picture_bytes_max = _picture_bytes_max(job)
        self._size_bytes = 0
        self._pictures = 0
        self._pictures_held = Fraction()
        self._sounds = 0

    def __enter__(self) -> "Remuxer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._container.close()

    def add(self, packet: "av.Packet[av.stream.Stream]") -> None:
        """Check a packet and append its pictures or its sound to the file."""
        if packet.is_corrupt or packet.has_sidedata("new_extradata"):
            raise SceneError("The video changes its settings while it plays.")
        self._size_bytes += packet.size
        if self._size_bytes > self._job.limits.output_bytes:
            raise too_large(self._job.limits.output_bytes)
        self._container.mux(
            self._picture_of(packet) if packet.stream.type == "video" else self._sound_of(packet)
        )

    def _picture_of(self, packet: "av.Packet[av.stream.Stream]") -> "av.Packet[av.stream.Stream]":
        slices = list(_slices(bytes(packet), first=self._pictures == 0))
        if len(slices) != 1 or len(slices[0]) > self._picture_bytes_max:
            raise SceneError("The video has a picture with more to it than the renderer's encoder writes.")
        self._check_picture_time(packet)
        self._pictures += 1
        # With start codes, as the muxer expects from encoders.
        fresh = _copy(_START_CODE + slices[0], packet)
        fresh.is_keyframe = slices[0][0] & _UNIT_TYPE == _KEY_SLICE
        fresh.stream = self._picture
        return fresh

    def _sound_of(self, packet: "av.Packet[av.stream.Stream]") -> "av.Packet[av.stream.Stream]":
        assert self._sound is not None
        self._sounds += 1
        most = sound_frames_max(self._job.limits.frames, self._job.fps)
        if packet.size > _SOUND_BYTES_MAX or self._sounds > most:
            raise SceneError("The video has more sound than the renderer's encoder writes.")
        self._check_sound_time(packet)
        fresh = _copy(bytes(packet), packet)
        fresh.is_keyframe = True
        fresh.stream = self._sound
        return fresh

    def _check_picture_time(self, packet: "av.Packet[av.stream.Stream]") -> None:
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

    def _check_sound_time(self, packet: "av.Packet[av.stream.Stream]") -> None:
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


def _copy(data: bytes, packet: "av.Packet[av.stream.Stream]") -> "av.Packet[av.stream.Stream]":
    """Return a packet with new data and only the times of another."""
    fresh = av.Packet(data)
    fresh.time_base = packet.time_base
    fresh.pts, fresh.dts, fresh.duration = packet.pts, packet.dts, packet.duration
    return fresh


def _slices(data: bytes, *, first: bool) -> Iterator[bytes]:
    """Yield the slices of a packet. It may contain nothing else, except encoder information in the first."""
    place = 0
    while place < len(data):
        length = int.from_bytes(data[place : place + _LENGTH_BYTES])
        unit = data[place + _LENGTH_BYTES : place + _LENGTH_BYTES + length]
        place += _LENGTH_BYTES + length
        if length == 0 or len(unit) != length:
            raise SceneError("The video can't be decoded: a picture is incomplete.")
        kind = unit[0] & _UNIT_TYPE
        if kind in (_SLICE, _KEY_SLICE):
            yield unit
        elif kind != _INFORMATION or not first or length > _INFORMATION_BYTES_MAX:
            raise SceneError("The video holds something else than pictures and sound.")


def _picture_bytes_max(job: InspectJob) -> int:
    columns, rows = -(-job.width_px // _MACROBLOCK_PX), -(-job.height_px // _MACROBLOCK_PX)
    return columns * rows * _MACROBLOCK_BYTES_MAX + _SLICE_HEADER_BYTES_MAX


def _check_settings(stream: "av.VideoStream | av.AudioStream", expected: bytes | None) -> None:
    if stream.codec_context.extradata != expected:
        raise SceneError("The video isn't encoded with the renderer's settings for what was asked for.")


def _as_in_mp4(sets: bytes | None) -> bytes:
    """Convert an encoder's parameter sets, one of each kind, to their MP4 format (ISO/IEC 14496-15)."""
    assert sets is not None
    sequence, picture = [part for part in re.split(rb"\x00\x00\x00?\x01", sets) if part]
    more = _HIGH_PROFILE_SETTINGS if sequence[1] == _HIGH_PROFILE else b""
    return b"".join(
        (
            bytes((1, *sequence[1:4], 0xFF, 0xE1)),
            len(sequence).to_bytes(2) + sequence,
            bytes((1,)) + len(picture).to_bytes(2) + picture,
            more,
        )
    )
