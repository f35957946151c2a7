"""Writes the video to publish from the parts of a stream, which it decodes while they come."""

import os
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av

from ..messages import InspectJob
from ..video import mp4, sound
from ..video.stream import Picture, Sound
from . import remux
from .remux import AnyPacket, Remuxer
from .viewer import Viewer


class ReceivedVideo:
    """``published-video.mp4`` in a folder. Raises SceneError for anything that our encoders don't write.

    The decoders have the settings of our encoders: streams carry no parameter sets.
    """

    def __init__(self, folder: Path, job: InspectJob) -> None:
        self.viewer = Viewer(job)
        self._path = folder / "published-video.mp4"
        self._job = job
        self._unit = Fraction(1, job.fps)  # of time: a frame
        self._remuxer = Remuxer(self._path, job, with_sound=False)
        decoder = av.CodecContext.create("h264", "r")
        assert isinstance(decoder, av.VideoCodecContext)
        self._decoder = decoder
        decoder.extradata = self._remuxer.picture_settings
        decoder.options = {"err_detect": "explode"}
        decoder.thread_type = "AUTO"
        self._pictures = 0
        self._sounds: list[AnyPacket] = []
        self._sound_decoder: av.AudioCodecContext | None = None

    def __enter__(self) -> "ReceivedVideo":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remuxer.__exit__(kind, error, trace)

    def add(self, part: Picture | Sound) -> None:
        """Check, decode and keep the next part."""
        if isinstance(part, Picture):
            self._add_picture(part)
        else:
            self._add_sound(part)

    def _add_picture(self, part: Picture) -> None:
        packet = _packet(part.data, self._unit, part.decoded_at, part.shown_at, 1)
        picture = self._remuxer.checked_picture(packet, remux.units_of_stream(part.data))
        self._pictures += 1
        self._view(picture)
        self._remuxer.add_picture(picture)

    def _view(self, picture: "AnyPacket | None") -> None:
        for frame in self._decoder.decode(picture):
            frame.time_base = self._unit
            self.viewer.view(frame)

    def _add_sound(self, part: Sound) -> None:
        at = part.begins_at
        packet = _packet(part.data, Fraction(1, mp4.SOUND_RATE_HZ), at, at, part.duration)
        fresh = self._remuxer.checked_sound(packet)
        if self._sound_decoder is None:
            self._sound_decoder = _sound_decoder()
        self._sound_decoder.decode(fresh)
        self._sounds.append(fresh)

    def finish(self) -> None:
        """Complete the file. Call it when all parts have been added."""
        self._view(None)
        self.viewer.check_number(self._pictures)
        self._remuxer.finish()
        self._remuxer.close()
        if self._sound_decoder is not None:
            self._sound_decoder.decode(None)
            silent = self._path.with_name("silent.mp4")
            os.replace(self._path, silent)
            with (
                av.open(os.fspath(silent)) as source,
                Remuxer(self._path, self._job, with_sound=True) as both,
            ):
                for packet in sound.interleaved(source, self._sounds):
                    if packet.stream is None:
                        both.add_sound(packet)
                    else:
                        both.add(packet)
            silent.unlink()


def _sound_decoder() -> av.AudioCodecContext:
    decoder = av.CodecContext.create("aac", "r")
    assert isinstance(decoder, av.AudioCodecContext)
    with mp4.create(Path(os.devnull), 1) as container:
        decoder.extradata = remux.add_sound(container).codec_context.extradata
    return decoder


def _packet(data: bytes, unit: Fraction, decoded_at: int, shown_at: int, duration: int) -> AnyPacket:
    packet = remux.owned_packet(data)
    packet.time_base = unit
    packet.dts, packet.pts, packet.duration = decoded_at, shown_at, duration
    return packet
