"""Sounds among the files of a scene."""

from functools import cache
from os import PathLike
from pathlib import Path

import av

from ..scene_error import SceneError


def duration_of(file: str | PathLike[str]) -> float:
    """Return the length of a sound in seconds. `file`: a path relative to the files of the scene.

    Raises SceneError if there is no such file, or if it is no sound.
    """
    path = Path(file)
    if not path.is_file():
        hint = "Put the file into the scene's folder, or among the files of the account."
        raise SceneError(f"There is no sound {path}.", kind="scene:file", hint=hint)
    return _duration_of(path)


@cache
def _duration_of(path: Path) -> float:
    """Count the samples: what a file says of its length may be an estimate."""
    try:
        with av.open(str(path)) as container:
            stream = container.streams.audio[0]
            samples = sum(frame.samples for frame in container.decode(stream))
            return samples / stream.codec_context.sample_rate
    except (av.FFmpegError, IndexError, ValueError, ZeroDivisionError) as error:
        hint = "Use a WAV, MP3, OGG, M4A or FLAC file."
        raise SceneError(f"{path} can't be read as a sound.", kind="scene:file", hint=hint) from error
