"""Manim itself: its ``render`` command, run in a fork of a process that has imported it.

Manim is not changed, only observed where it hands over frames, captions and sound.
Reads requests on stdin, one JSON object per line, and answers each with an empty line.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from fidelity.recording import Recording, describe_sound, digest

_LIMIT_S = 600


def serve() -> None:
    import manim  # noqa: F401 (once, before the forks)

    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            try:
                _render(Path(request["folder"]), request["className"], request["size"])
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.write(1, b"\n")


def _render(folder: Path, class_name: str, size: tuple[int, int, int]) -> None:
    from manim.__main__ import main

    signal.alarm(_LIMIT_S)
    os.chdir(folder)
    log = os.open("manim.log", os.O_WRONLY | os.O_CREAT)
    for descriptor, file in ((0, os.open("/dev/null", os.O_RDONLY)), (1, log), (2, log)):
        os.dup2(file, descriptor)
    recording = Recording()
    _listen(recording)
    try:
        main(["render", *options(size), "scene.py", class_name], standalone_mode=False)
    except BaseException as error:
        # The command prints an exception and then raises SystemExit.
        cause = error.__context__ if isinstance(error, SystemExit) and error.__context__ else error
        text = traceback.format_exception_only(cause)[-1].strip()
        recording.error = text.replace(f"{folder}/", "").replace(str(folder), ".")
    recording.write(folder)


def options(size: tuple[int, int, int]) -> list[str]:
    """Return the output options that the service sets for a scene."""
    width, height, fps = size
    text = f"-r {width},{height} --fps {fps} --disable_caching --progress_bar none -v ERROR --media_dir ."
    return text.split()


def _listen(recording: Recording) -> None:
    from manim.scene import scene_file_writer
    from manim.scene.scene_file_writer import SceneFileWriter

    def put(_: Any, repeat: int, pixels: Any) -> None:
        recording.add(pixels, repeat)

    def save_image(_: Any, pixels: Any) -> None:
        recording.picture = digest(pixels)

    def finish(writer: SceneFileWriter) -> None:
        recording.captions = [
            (round(caption.start.total_seconds() * 1000), round(caption.end.total_seconds() * 1000), text)
            for caption in writer.subcaptions
            for text in [str(caption.content)]
        ]
        if writer.includes_sound:
            recording.sound = describe_sound(writer.audio_segment)

    for owner, listener in (
        (scene_file_writer._PartialMovieEncodeJob, put),
        (SceneFileWriter, save_image),
        (SceneFileWriter, finish),
    ):
        _precede(owner, listener)


def _precede(owner: type, listener: Any) -> None:
    """Call the listener before the method with its name."""
    original = getattr(owner, listener.__name__)

    def method(*arguments: Any) -> Any:
        listener(*arguments)
        return original(*arguments)

    setattr(owner, listener.__name__, method)


if __name__ == "__main__":
    serve()
