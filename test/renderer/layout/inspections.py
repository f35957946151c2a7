"""Inspections of scenes in a zygote."""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from client import RENDERER, Message, Zygote, check_job
from layout.inspecting_zygote import FILE_NAME

_HERE = Path(__file__).parents[1]


@dataclass
class Inspection:
    """What an inspection has kept and found."""

    pixels: Any
    # Of each picture: play, line and seconds.
    places: list[tuple[int, int, float]]
    findings: list[Message]
    reads_pixels: bool
    said: str

    @property
    def kinds(self) -> list[str]:
        return [found["kind"] for found in self.findings]


class Inspector:
    """A zygote that inspects scenes."""

    def __init__(self) -> None:
        self._zygote = Zygote(
            module="layout.inspecting_zygote",
            environment={"PYTHONPATH": f"{RENDERER}{os.pathsep}{_HERE}"},
            also_leaves=[FILE_NAME],
        )

    def inspect(self, code: str, name: str = "Demo", *, height_px: int = 1080, **changes: Any) -> Inspection:
        """Inspect a scene. `height_px`: of the video that is asked for."""
        size: Message = {"widthPx": 480, "heightPx": 270, "fps": 15, "cpuSeconds": 60}
        with tempfile.TemporaryDirectory() as folder:
            job = check_job(f"{code}\n# height_px {height_px}\n", name, **(size | changes))
            outcome = self._zygote.run(Path(folder), job)
            assert outcome.result["type"] == "checked", outcome.result
            with np.load(Path(folder) / FILE_NAME) as made:
                places = [(int(play), int(line), float(at)) for play, line, at in made["places"]]
                findings = json.loads(str(made["findings"]))
                said = "".join(report["text"] for report in outcome.of_type("output"))
                return Inspection(made["pixels"], places, findings, outcome.result["readsPixels"], said)

    def close(self) -> None:
        assert self._zygote.close() == 0
