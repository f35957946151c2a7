"""The renderer's zygote, whose checks are inspections that write what they find to a file."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scene_renderer import warm_up
from scene_renderer.__main__ import main

FILE_NAME = "inspected.npz"


def _inspect() -> None:
    warm_up_run()
    from scene_renderer.job import dry_run, rendering
    from scene_renderer.job.inspecting import InspectingRenderer

    def check(playing: Any, job: Any, channel: Any, timeline: Any) -> Callable[[], None]:
        height_px = int(
            next((line[12:] for line in job.code.split("\n") if line.startswith("# height_px ")), 1080)
        )
        kept: list[Any] = []

        def keep(pixels: Any, *, play: int, line: int, seconds: float) -> None:
            kept.append((pixels, play, line, seconds))

        renderer = InspectingRenderer(
            rendering._plain_renderer(playing), job, timeline, keep=keep, code=job.code, height_px=height_px
        )
        dry_run.skip_frames()
        rendering._play(playing, renderer)
        findings = renderer.findings()
        if renderer.failure:
            raise renderer.failure
        np.savez(
            Path(os.environ["HOME"]) / FILE_NAME,
            pixels=np.array([one[0] for one in kept]),
            places=np.array([one[1:] for one in kept]),
            findings=json.dumps(findings),
        )
        frames = renderer.file_writer.movie.frames or job.fps
        return lambda: channel.checked(frames, job.fps, reads_pixels=renderer.are_pixels_read)

    vars(rendering)["_check"] = check


if __name__ == "__main__":
    warm_up_run, warm_up.run = warm_up.run, _inspect
    main()
