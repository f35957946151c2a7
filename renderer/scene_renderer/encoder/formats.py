"""The formats of videos and pictures."""

import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image

from ..scene_error import SceneError
from . import mp4
from .repeats import Encoder, RepeatingEncoder


@dataclass(frozen=True)
class Format:
    """A container with its codecs.

    `sound`: codec, sample format and samples per frame; None: silent. `is_tagged`: the colour space is told,
    which players would otherwise guess.
    `tag`: the name of the codec in the file; empty: the usual one.
    """

    container: str
    codec: str
    pixel_format: str
    options: dict[str, str] = field(default_factory=dict)
    sound: tuple[str, str, int] | None = ("aac", "fltp", 1024)
    is_tagged: bool = False
    file_options: dict[str, str] = field(default_factory=dict)
    tag: str = ""

    def create(self, path: Path, fps: int) -> av.container.OutputContainer:
        """Create a file."""
        if self.container == "mp4":
            return mp4.create(path, fps)
        return av.open(os.fspath(path), "w", format=self.container, options=self.file_options)

    def add_video(
        self, container: av.container.OutputContainer, width_px: int, height_px: int, rate: Fraction
    ) -> av.VideoStream:
        """Add the video track. `rate`: frames per second, whole ones for H.264."""
        if self.container == "mp4" and self.codec == "libx264":
            return mp4.add_video(container, width_px, height_px, int(rate))
        try:
            stream = container.add_stream(self.codec, rate=rate, options=self.options)
        except av.codec.codec.UnknownCodecError:
            message = f"The FFmpeg of this renderer has no encoder {self.codec}, which a format needs."
            raise SceneError(message, kind="scene:unsupported") from None
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, self.pixel_format
        if self.is_tagged:
            stream.codec_context.colorspace = Colorspace.ITU601
            stream.codec_context.color_range = ColorRange.MPEG
        return stream

    def encoder(self, stream: av.VideoStream) -> Encoder:
        """Return the encoder of the video track."""
        return RepeatingEncoder(stream) if self.codec == "libx264" else Encoder(stream)

    def add_sound(self, container: av.container.OutputContainer) -> av.AudioStream:
        """Add the stereo sound track."""
        assert self.sound
        stream = container.add_stream(self.sound[0], rate=mp4.SOUND_RATE_HZ, layout="stereo")
        assert isinstance(stream, av.AudioStream)
        return stream


MP4 = Format("mp4", "libx264", "yuv420p")
PICTURES = Format("tar", "png", "rgba", sound=None)
_LOSSLESS = Format("mov", "qtrle", "argb")
# Several times as fast as the defaults of libvpx, for files about a tenth larger.
_VP9 = {"crf": "23", "b:v": "0", "deadline": "good", "cpu-used": "5", "row-mt": "1"}
_OPUS = ("libopus", "flt", 960)
# Of jobs of a service.
WEBM = Format("webm", "libvpx-vp9", "yuv420p", _VP9, _OPUS, is_tagged=True)
TRANSPARENT_WEBM = Format("webm", "libvpx-vp9", "yuva420p", _VP9, _OPUS, is_tagged=True)
# A quarter of the CPU time of prores_ks, for files a quarter larger. The alpha is lossless.
TRANSPARENT_MOV = Format(
    "mov",
    "prores_aw",
    "yuva444p10le",
    {"profile": "4", "vendor": "apl0"},
    ("pcm_s16le", "s16", 1024),
    is_tagged=True,
    tag="ap4h",
)
# One level of parallelism: with more it starts 49 threads, which is near the limit of a job, for the same
# file. Screen content mode suits flat colours: files are a sixth smaller, and nearer to the pictures.
_AV1 = "lp=1:scm=1"
# Above this, it would keep 1.2 GB of pictures. Without references to later ones it keeps a third of that, for
# files up to two fifths larger.
_AV1_PIXELS = 1920 * 1088
# With two threads and a short look-ahead it keeps fewer pictures. Apple's players know no other tag.
_X265 = "pools=2:frame-threads=1:rc-lookahead=10:log-level=error"
HEVC = Format(
    "mp4",
    "libx265",
    "yuv420p",
    {"preset": "superfast", "crf": "21", "x265-params": _X265},
    is_tagged=True,
    tag="hvc1",
)
SOUND = Format("ipod", "", "", file_options={"movflags": "+faststart"})
# Exactly the colours of the pictures, in few bytes.
EXACT = Format("mov", "libx264rgb", "rgb24", {"preset": "ultrafast", "qp": "0"}, sound=None)
# Exactly the colours of the pictures.
APNG = Format("apng", "apng", "rgb24", {"pred": "mixed"}, sound=None, file_options={"plays": "0"})
WEBP = Format(
    "webp",
    "libwebp_anim",
    "bgra",
    {"quality": "80", "compression_level": "2"},
    sound=None,
    file_options={"loop": "0"},
)


def av1(width_px: int, height_px: int) -> Format:
    """Return the format of an AV1 video of a size."""
    parameters = _AV1 if width_px * height_px <= _AV1_PIXELS else f"{_AV1}:pred-struct=1"
    options = {"preset": "8", "crf": "28", "svtav1-params": parameters}
    return Format("mp4", "libsvtav1", "yuv420p", options, is_tagged=True)


def video_format(name: str, *, transparent: bool) -> Format:
    """Return the format of a video, or of the one from which a GIF is made."""
    if name == "webm":
        return Format("webm", "libvpx-vp9", "yuva420p" if transparent else "yuv420p", _VP9, _OPUS)
    if name == "gif" or (name == "mov" and transparent):
        return _LOSSLESS
    if name == "mov":
        return Format("mov", "libx264", "yuv420p", mp4.OPTIONS)
    return MP4


def to_png(pixels: Any, *, transparent: bool) -> bytes:
    """Return RGBA pixels as PNG."""
    data = io.BytesIO()
    image = Image.fromarray(pixels)
    (image if transparent else image.convert("RGB")).save(data, "PNG", compress_level=4)
    return data.getvalue()


def add_to_tar(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    """Append a file to an archive."""
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def make_gif(source: Path, target: Path, rate: Fraction) -> None:
    """Convert a lossless video, with one palette for all frames, as Manim does."""
    palette = _palette(source)
    with av.open(os.fspath(source)) as movie, av.open(os.fspath(target), "w", format="gif") as container:
        video = movie.streams.video[0]
        stream = container.add_stream("gif", rate=rate)
        stream.width, stream.height, stream.pix_fmt = video.width, video.height, "pal8"
        graph = av.filter.Graph()
        frames, colours = (
            graph.add_buffer(template=video),
            graph.add_buffer(
                width=palette.width, height=palette.height, format=palette.format, time_base=video.time_base
            ),
        )
        use = graph.add("paletteuse", "dither=bayer:bayer_scale=5:diff_mode=rectangle")
        frames.link_to(use, 0, 0)
        colours.link_to(use, 0, 1)
        use.link_to(graph.add("buffersink"))
        graph.configure()
        colours.push(palette)
        colours.push(None)
        number = 0
        for frame in [*movie.decode(video), None]:
            frames.push(frame)
            for shown in _pulled(graph):
                shown.pts, shown.time_base = number, 1 / rate
                number += 1
                container.mux(stream.encode(shown))
        container.mux(stream.encode(None))


def _palette(source: Path) -> av.VideoFrame:
    with av.open(os.fspath(source)) as movie:
        video = movie.streams.video[0]
        graph = av.filter.Graph()
        buffer, generate = graph.add_buffer(template=video), graph.add("palettegen", "stats_mode=diff")
        buffer.link_to(generate)
        generate.link_to(graph.add("buffersink"))
        graph.configure()
        for frame in movie.decode(video):
            buffer.push(frame)
        buffer.push(None)
        return next(_pulled(graph))


def _pulled(graph: av.filter.Graph) -> Iterator[av.VideoFrame]:
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        assert isinstance(frame, av.VideoFrame)
        yield frame
