"""The folder that a scene may read: that of the author's own file, or the files of a job of a service.

``scenepress render`` lets all its scenes read the former; the latter are different for each job. The folder
is visible in the sandbox, read-only. Links to its entries are in the scene's current folder, so relative
paths, modules beside the file and ``__file__`` work as with the ``manim`` command; new files can be written.
"""

import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_FOLDER_VARIABLE = "SCENEPRESS_SCENE_FOLDER"
_FILE_VARIABLE = "SCENEPRESS_SCENE_FILE"
_DEFAULT_NAME = "scene.py"
_LINKS_MAX = 2000
# Names that the renderer itself writes into the scene's current folder.
_WRITTEN = ("channel", "tmp", "captions.vtt", "output.png", "section-videos", "sections.tar")
_MEDIA, _WRITTEN_IN_MEDIA = "media", ("Tex", "texts")

_files: Path | None = None


def folder() -> Path | None:
    """Return the folder; None if there is none."""
    place = os.environ.get(_FOLDER_VARIABLE)
    return Path(place) if place else None


def give(files: str) -> None:
    """Set the folder to that with the files of this process's job."""
    global _files
    os.environ[_FOLDER_VARIABLE] = files
    _files = Path(files)


def files() -> Path | None:
    """Return the folder if it is that with the files of this process's job."""
    return _files


def choose(file: str) -> None:
    """Set which file the scene of this process is of, instead of that of the renderer."""
    os.environ[_FILE_VARIABLE] = file


def _file() -> PurePosixPath:
    """Return the path of the author's file, relative to the folder."""
    given = PurePosixPath(os.environ.get(_FILE_VARIABLE, _DEFAULT_NAME))
    return given if given.suffix == ".py" else PurePosixPath(_DEFAULT_NAME)


def source_path(job_folder: Path) -> Path:
    """Return where the source is written to be imported."""
    return job_folder / _file().name


def module_name() -> str:
    """Return the name of the scene's module: its file's, so that modules beside it don't import it again."""
    stem = _file().stem
    is_free = stem not in sys.modules and stem not in sys.stdlib_module_names
    return stem if stem.isidentifier() and is_free else "scene"


def module_file(job_folder: Path) -> str:
    """Return the module's ``__file__``, which is in the author's folder."""
    place, file = folder(), _file()
    if place is None or file.parent == PurePosixPath():
        return str(source_path(job_folder))
    return str(place / file)


def open_to_scene(job_folder: Path) -> None:
    """Let the scene import modules beside its file, and find the folder's entries by relative paths."""
    if (place := folder()) is None:
        return
    parent = _file().parent
    # First, as with the manim command.
    sys.path.insert(0, str(job_folder if parent == PurePosixPath() else place / parent))
    left = itertools.count(_LINKS_MAX, -1)
    _link(place, job_folder, {source_path(job_folder).name, *_WRITTEN}, left)
    if os.path.isdir(place / _MEDIA):  # False if it is unreadable for this user
        os.makedirs(job_folder / _MEDIA, exist_ok=True)
        _link(place / _MEDIA, job_folder / _MEDIA, set(_WRITTEN_IN_MEDIA), left)


def _link(source: Path, target: Path, without: set[str], left: Iterator[int]) -> None:
    with suppress(OSError), os.scandir(source) as entries:  # unreadable for this user
        for entry in entries:
            if next(left) <= 0:
                return
            if entry.name not in without and entry.name != _MEDIA:
                with suppress(FileExistsError):
                    os.symlink(entry.path, f"{target}/{entry.name}")
