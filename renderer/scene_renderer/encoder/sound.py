"""The sound of a video: PCM as it was sent, and the packets of an encoder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np

from ..video.frames import Sound
from . import mp4
from .formats import Format


class Track:
    """The sound of a video: stereo, 16 bits."""

    def __init__(self) -> None:
        self._rate_hz = 0
        self._samples = bytearray()

    def add(self, part: Sound) -> None:
        """Append a part."""
        self._rate_hz = part.rate_hz
        self._samples += part.data

    def __bool__(self) -> bool:
        """Whether there is any sound."""
        return bool(self._samples)

    def write(self, path: Path, format_: Format) -> None:
        """Write a file with nothing but the sound."""
        with format_.create(path, 1) as container:
            stream = format_.add_sound(container)
            for packet in self.encode(stream, format_):
                container.mux(packet)

    def encode(self, stream: av.AudioStream, format_: Format) -> Iterator["av.Packet[Any]"]:
        """Yield its packets for a stream."""
        for frame in self._frames(format_):
            yield from stream.encode(frame)
        yield from stream.encode(None)

    def _frames(self, format_: Format) -> Iterator[av.AudioFrame | None]:
        samples = np.frombuffer(self._samples, dtype=np.int16)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="stereo")
        frame.sample_rate = self._rate_hz
        frame.pts = 0
        assert format_.sound
        _, samples_format, size = format_.sound
        resampler = av.AudioResampler(
            format=samples_format, layout="stereo", rate=mp4.SOUND_RATE_HZ, frame_size=size
        )
        yield from resampler.resample(frame)
        yield from resampler.resample(None)
