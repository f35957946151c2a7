"""Prints one line of JSON per scene of corpus.py: its name and the hashes of its frames, in order.

usage: python record_frames.py manim|renderer WIDTH HEIGHT FPS

`manim` runs the manim command and listens where it hands frames to its encoder; `renderer` runs
the renderer and listens where it hands them to its own. Each scene runs in a process of its own.
"""

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["OPENBLAS_NUM_THREADS"] = "1"
CORPUS = Path(__file__).with_name("corpus.py")
SCENES = ["Shapes", "Words", "Graph", "Chance", "Solid", "Moving", "Zoomed", "Painted", "Sections"]


def record(frames: list[str], pixels: Any, repeat: int) -> None:
    frames += [hashlib.sha256(pixels.tobytes()).hexdigest()[:16]] * repeat


def with_manim(scene: str, width: int, height: int, fps: int) -> list[str]:
    from manim.__main__ import main
    from manim.scene.video_segment_encoder import VideoSegmentEncoder

    frames: list[str] = []

    def write_frame(self: VideoSegmentEncoder, pixels: Any, *, repeat: int = 1) -> None:
        record(frames, pixels, repeat)
        original(self, pixels, repeat=repeat)

    original = VideoSegmentEncoder.write_frame
    options = (
        f"-r {width},{height} --fps {fps} --disable_caching --progress_bar none -v CRITICAL --media_dir ."
    )
    arguments = ["render", *options.split(), str(CORPUS), scene]
    with mock.patch.object(VideoSegmentEncoder, "write_frame", write_frame):
        main(arguments, standalone_mode=False)
    return frames


def with_renderer(scene: str, width: int, height: int, fps: int) -> list[str]:
    from scene_renderer import encode, rendering
    from scene_renderer.protocol import Limits, RenderJob

    frames: list[str] = []

    class Recorder(encode.MovieEncoder):
        def write(self, pixels: Any, repeat: int = 1) -> None:
            record(frames, pixels, repeat)
            super().write(pixels, repeat)

    class Channel:
        def __getattr__(self, name: str) -> Any:
            def report(*arguments: Any) -> None:
                assert name != "failed", arguments

            return report

    limits = Limits(4 << 30, 64, 1 << 30, 256, 36_000, 1 << 30)
    job = RenderJob(CORPUS.read_text(), scene, width, height, fps, 0, limits)
    with mock.patch.object(rendering, "MovieEncoder", Recorder):
        rendering.render(job, Path.cwd(), Channel())  # type: ignore[arg-type] # it has every method
    return frames


def main() -> None:
    recorder = {"manim": with_manim, "renderer": with_renderer}[sys.argv[1]]
    width, height, fps = map(int, sys.argv[2:])
    import manim  # noqa: F401 (once, before the forks)

    for scene in SCENES:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                out = os.dup(1)
                os.dup2(2, 1)  # manim greets on stdout
                line = json.dumps([scene, recorder(scene, width, height, fps)])
                os.write(out, line.encode() + b"\n")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, scene


if __name__ == "__main__":
    main()
