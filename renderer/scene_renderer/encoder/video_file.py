"""Video files. Their packets are kept in memory until the file is written."""

import hashlib
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from ..video.frames import Form, Frame
from . import formats, mp4
from .copying import CopyingEncoder
from .formats import Format
from .index import EarlierFiles, digest_of, index_of, new_seed, open_earlier
from .picture import Shown, Size
from .repeats import RepeatingEncoder
from .sound import Track

# A fixed number of frame threads, so that the output doesn't depend on the machine.
_THREADS = 4


class VideoFile:
    """A video of one picture and possibly a sound. `size` and `rate`: default: those of the form."""

    def __init__(
        self, form: Form, format_: Format, *, size: Size | None = None, rate: Fraction | None = None
    ) -> None:
        self.size_bytes = 0
        self._rate = rate or Fraction(form.fps)
        self._form = form
        self._format = format_
        # The settings of encoders depend on the container. Nothing is written to this one.
        self._settings = format_.create(Path(os.devnull), form.fps)
        self._stream = format_.add_video(
            self._settings, *(size or (form.width_px, form.height_px)), self._rate
        )
        self._stream.codec_context.thread_count = _THREADS
        self._stream.codec_context.thread_type = "FRAME"
        self._encoder = format_.encoder(self._stream)
        self._packets: list[av.Packet[Any]] = []

    def show(self, shown: Shown, frame: Frame) -> None:
        """Encode the picture for some frames."""
        picture = shown.frame(self._format.pixel_format)
        packets = self._encoder.show(picture, frame.count, is_new=frame.is_new, begins_play=frame.begins_play)
        self._keep(packets)

    def finish(self) -> None:
        """Encode what the encoder still holds."""
        self._keep(self._encoder.finish())

    def write(self, path: Path, sound: Track) -> None:
        """Write the finished video, with its sound if there is any and the format has sound."""
        self._settings.start_encoding()  # fills in what the new stream is made from
        with self._format.create(path, self._form.fps) as container:
            video = container.add_stream_from_template(self._stream)
            if self._format.tag:
                video.codec_context.codec_tag = self._format.tag
            sounds: list[av.Packet[Any]] = []
            if sound and self._format.sound:
                sounds = [*sound.encode(self._format.add_sound(container), self._format)][::-1]
            for packet in self._packets:
                while sounds and _seconds(sounds[-1]) <= _seconds(packet):
                    container.mux(sounds.pop())
                packet.stream = video
                container.mux(packet)
            for packet in reversed(sounds):
                container.mux(packet)

    def _keep(self, packets: "Iterator[av.Packet[Any]]") -> None:
        for packet in packets:
            self.size_bytes += packet.size
            self._packets.append(packet)


class IndexedVideo(VideoFile):
    """An MP4 with an index, and with copies of the frames that are equal in an earlier one.

    `earlier`: the files of its index and of the video; those of other settings are not used.
    """

    def __init__(self, form: Form, earlier: EarlierFiles | None) -> None:
        super().__init__(form, formats.MP4)
        self._settings.start_encoding()
        made_with = (form, mp4.OPTIONS, self._stream.codec_context.extradata)
        self._made_with = hashlib.sha256(repr(made_with).encode()).digest()
        assert isinstance(self._encoder, RepeatingEncoder)
        found = open_earlier(earlier, self._made_with) if earlier else None
        self._copying = CopyingEncoder(self._encoder, found) if found else None
        self._seed = found.seed if found else new_seed()
        self._pictures: list[bytes] = []

    @property
    def copied_frames(self) -> int:
        """The number of frames that are copies."""
        return self._copying.copied if self._copying else 0

    def show(self, shown: Shown, frame: Frame) -> None:
        """Encode or copy the picture for some frames."""
        digest = digest_of(shown.pixels, self._seed) if frame.is_new else self._pictures[-1]
        self._pictures += [digest] * frame.count
        if self._copying is None:
            super().show(shown, frame)
            return
        packets = self._copying.show(
            lambda: shown.frame(self._format.pixel_format),
            frame.count,
            digest,
            is_new=frame.is_new,
            begins_play=frame.begins_play,
        )
        self._keep(packets)

    def finish(self) -> None:
        """Encode what the encoder still holds."""
        self._keep((self._copying or self._encoder).finish())

    def write_index(self, video: Path, path: Path) -> None:
        """Write the index of the written video."""
        path.write_bytes(index_of(video, self._made_with, self._seed, self._pictures).to_bytes())


class Gif(VideoFile):
    """A GIF, made from a lossless video."""

    def write(self, path: Path, sound: Track) -> None:
        """Write the finished video; it has no sound."""
        lossless = path.with_name("lossless.mov")
        super().write(lossless, sound)
        formats.make_gif(lossless, path, self._rate)
        lossless.unlink()


def _seconds(packet: "av.Packet[Any]") -> Any:
    assert packet.dts is not None
    return packet.dts * packet.time_base
