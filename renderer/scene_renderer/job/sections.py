"""Videos of the sections of a scene, for ``scenepress render --save_sections``."""

import json
import tarfile
from pathlib import Path

from manim.scene.section import Section

from ..messages import RenderJob
from ..video import formats
from ..video.encode import MovieEncoder, Pixels

_FOLDER = "section-videos"


class SectionMovies:
    """Encodes the frames of each section into a file of its own."""

    def __init__(self, job: RenderJob, folder: Path) -> None:
        self._job = job
        self._folder = folder / _FOLDER
        self._folder.mkdir()
        self._movie: MovieEncoder | None = None
        self._video: str | None = None
        self._made: set[str] = set()

    def write(self, section: Section, pixels: Pixels, repeat: int) -> None:
        """Append a frame to the video of a section."""
        if section.video is None:
            return
        if section.video != self._video:
            self._finish_video()
            path = self._folder / section.video
            local = self._job.local
            assert local
            kind = formats.video_format(path.suffix[1:], transparent=local.transparent)
            self._movie, self._video = MovieEncoder(path, self._job, None, kind), section.video
            self._made.add(section.video)
        assert self._movie
        self._movie.write(pixels, repeat)

    def finish(self, sections: list[Section], name: str, archive: Path) -> None:
        """Put the videos and an index of them, as Manim writes it, into an archive."""
        self._finish_video()
        made = [section for section in sections if section.video in self._made]
        index = [section.get_dict(self._folder) for section in made]
        with tarfile.open(archive, "w") as tar:
            for section in made:
                assert section.video
                tar.add(self._folder / section.video, section.video)
            formats.add_to_tar(tar, f"{name}.json", json.dumps(index, indent=4).encode())

    def _finish_video(self) -> None:
        if self._movie:
            self._movie.finish(None)
        self._movie = None
