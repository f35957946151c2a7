"""Archives of a job of a service: a picture of each frame, and a video of each section."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ..scene_error import SceneError
from ..video.frames import Form, Frame, Section
from . import formats
from .picture import Shown
from .png_frames import PngFrames
from .sound import Track
from .video_file import VideoFile

SECTIONS_MAX = 200
# The same files make the same archive.
_DATE = (1980, 1, 1, 0, 0, 0)


class PngArchive(PngFrames):
    """A PNG of each frame, in a ZIP."""

    def __init__(self, folder: Path, noun: str, *, transparent: bool, bytes_max: int) -> None:
        super().__init__(folder, noun, transparent=transparent, bytes_max=bytes_max)
        self._archive = zipfile.ZipFile(self._file, "w")

    def _append(self, number: int, png: bytes) -> None:
        self._archive.writestr(zipfile.ZipInfo(f"{number:05}.png", _DATE), png)

    def finish(self) -> None:
        """Complete the archive."""
        self._archive.close()


@dataclass
class _Clip:
    section: Section
    start: int  # frame
    video: VideoFile
    frames: int = 0


class SectionArchive:
    """An MP4 of each section, and a JSON index of them, in a ZIP."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._section: Section | None = None
        self._clips: list[_Clip] = []
        self._frames = 0

    @property
    def size_bytes(self) -> int:
        """The size of all videos so far."""
        return sum(clip.video.size_bytes for clip in self._clips)

    def begin(self, section: Section) -> None:
        """Begin a section with the next frame."""
        self.finish()
        self._section = section

    def show(self, shown: Shown, frame: Frame) -> None:
        """Append the picture to the video of the section. Raises SceneError if there are too many."""
        if self._section is not None and (not self._clips or self._clips[-1].section is not self._section):
            if len(self._clips) == SECTIONS_MAX:
                raise SceneError(f"An archive can't have more than {SECTIONS_MAX} sections.")
            self._clips.append(_Clip(self._section, self._frames, VideoFile(self._form, formats.MP4)))
        if self._clips:
            self._clips[-1].video.show(shown, frame)
            self._clips[-1].frames += frame.count
        self._frames += frame.count

    def finish(self) -> None:
        """Complete the video of the last section."""
        if self._clips and self._clips[-1].section is self._section:
            self._clips[-1].video.finish()
        self._section = None

    def write(self, path: Path, _: Track) -> None:
        """Write the archive. The scene decides about none of the names in it."""
        index = []
        with zipfile.ZipFile(path, "w") as archive:
            for number, clip in enumerate(self._clips):
                name = f"{number:03}.mp4"
                file = path.with_name(name)
                clip.video.write(file, Track())
                archive.writestr(zipfile.ZipInfo(name, _DATE), file.read_bytes())
                file.unlink()
                index.append(self._described(clip, name))
            data = json.dumps(index, indent=2, ensure_ascii=False)
            archive.writestr(zipfile.ZipInfo("index.json", _DATE), data)

    def _described(self, clip: _Clip, name: str) -> dict[str, str | int | float]:
        fps = self._form.fps
        return {
            "name": clip.section.name,
            "type": clip.section.kind,
            "file": name,
            "startSeconds": round(clip.start / fps, 6),
            "seconds": round(clip.frames / fps, 6),
            "frames": clip.frames,
        }
