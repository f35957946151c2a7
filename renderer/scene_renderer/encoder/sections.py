"""Videos of the sections of a scene, for ``scenepress render --save_sections``."""

import json
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

import av

from ..video.frames import Form, Frame, Section
from . import formats
from .picture import Shown
from .sound import Track
from .video_file import VideoFile

_FOLDER = "sections"


@dataclass
class _Made:
    section: Section
    name: str
    video: VideoFile


class SectionVideos:
    """Encodes the frames of each section into a file of its own. `title`: of the scene, for the index."""

    def __init__(self, form: Form, title: str, *, transparent: bool) -> None:
        self._form = form
        self._title = title
        self._transparent = transparent
        self._section: Section | None = None
        self._made: list[_Made] = []

    @property
    def size_bytes(self) -> int:
        """The size of all videos so far."""
        return sum(made.video.size_bytes for made in self._made)

    def begin(self, section: Section) -> None:
        """Begin a section with the next frame."""
        self.finish()
        self._section = section

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture to the video of the section, if it has one."""
        section = self._section
        if section is None or section.video is None:
            return
        if not self._made or self._made[-1].section is not section:
            name = Path(section.video).name
            kind = formats.video_format(Path(name).suffix[1:], transparent=self._transparent)
            self._made.append(_Made(section, name, VideoFile(self._form, kind)))
        self._made[-1].video.show(shown, frame)

    def finish(self) -> None:
        """Complete the video of the last section."""
        if self._made and self._made[-1].section is self._section:
            self._made[-1].video.finish()
        self._section = None

    def write(self, path: Path, _: Track) -> None:
        """Put the videos and an index of them, as Manim writes it, into an archive."""
        folder = path.with_name(_FOLDER)
        folder.mkdir()
        index = []
        with tarfile.open(path, "w") as archive:
            for number, made in enumerate(self._made):
                file = folder / f"{number}{Path(made.name).suffix}"
                made.video.write(file, Track())
                index.append(
                    {"name": made.section.name, "type": made.section.kind, "video": made.name, **_about(file)}
                )
                archive.add(file, made.name)
                file.unlink()
            data = json.dumps(index, indent=4).encode()
            formats.add_to_tar(archive, f"{self._title}.json", data)
        folder.rmdir()


def _about(file: Path) -> dict[str, str | int]:
    """Describe a video as Manim does. One whose container doesn't tell its length is read."""
    with av.open(os.fspath(file)) as container:
        stream = container.streams.video[0]
        context, rate = stream.codec_context, stream.average_rate
        assert rate is not None
        if stream.duration is not None and stream.time_base is not None:
            frames, seconds = stream.frames, float(stream.duration * stream.time_base)
        else:
            frames = sum(1 for _ in container.decode(video=0))
            seconds = float(frames / rate)
        return {
            "width": context.width,
            "height": context.height,
            "nb_frames": str(frames),
            "duration": f"{seconds:.6f}",
            "avg_frame_rate": f"{rate.numerator}/{rate.denominator}",
            "codec_name": context.name,
            "pix_fmt": str(context.pix_fmt),
        }
