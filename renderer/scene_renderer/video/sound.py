"""Adds the sound of a scene as a second track of the movie."""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from . import mp4
from .formats import Format


def add(segment: Any, silent: Path, target: Path, format_: Format, *, length: Fraction, fps: int) -> None:
    """Copy the movie `silent` to `target` with a pydub segment as its sound track.

    The track is cut to the length of the movie, in seconds.
    """
    with av.open(os.fspath(silent)) as source, format_.create(target, fps) as container:
        video = container.add_stream_from_template(source.streams.video[0])
        audio = format_.add_sound(container)
        sounds = list(encode(segment, audio, format_, length))
        for packet in interleaved(source, sounds):
            if packet.stream.type == "video":
                packet.stream = video
            container.mux(packet)


def encode(
    segment: Any, audio: av.AudioStream, format_: Format, length: Fraction
) -> Iterator["av.Packet[Any]"]:
    """Yield the packets of a pydub segment, which is cut to a length in seconds."""
    for frame in _frames(segment, length, format_):
        yield from audio.encode(frame)
    yield from audio.encode(None)


def interleaved(
    silent: av.container.InputContainer, sounds: list["av.Packet[Any]"]
) -> Iterator["av.Packet[Any]"]:
    """Yield the packets of a movie's pictures and sound, ordered by time."""
    sounds = sounds[::-1]
    for packet in silent.demux(silent.streams.video[0]):
        if packet.dts is None:  # appended by demux to flush a decoder
            continue
        while sounds and _seconds(sounds[-1]) <= _seconds(packet):
            yield sounds.pop()
        yield packet
    yield from reversed(sounds)


def _seconds(packet: "av.Packet[Any]") -> Fraction:
    assert packet.dts is not None
    return packet.dts * packet.time_base


def _frames(segment: Any, duration: Fraction, format_: Format) -> Iterator[av.AudioFrame | None]:
    segment = segment.set_sample_width(2).set_channels(2)
    samples = np.frombuffer(segment.raw_data, dtype=np.int16)
    samples = samples[: int(duration * segment.frame_rate) * 2]
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="stereo")
    frame.sample_rate = segment.frame_rate
    frame.pts = 0
    assert format_.sound
    _, samples_format, size = format_.sound
    resampler = av.AudioResampler(
        format=samples_format, layout="stereo", rate=mp4.SOUND_RATE_HZ, frame_size=size
    )
    yield from resampler.resample(frame)
    yield from resampler.resample(None)
