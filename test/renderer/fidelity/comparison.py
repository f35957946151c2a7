"""Renders examples with both programs and reports differences."""

import html
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from client import RENDERER, Zygote, render_job
from fidelity.corpus import Example
from fidelity.recording import FILE_NAME, Recording

_HERE = Path(__file__).parents[1]
_PORTRAIT = RENDERER / "scene_renderer" / "portrait"
_ENVIRONMENT = {
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",  # the same order of sets in both
}
_CUE = re.compile(r"(\d+):(\d+):(\d+)\.(\d+) --> (\d+):(\d+):(\d+)\.(\d+)\n(.+?)\n(?:\n|$)", re.DOTALL)


class Verdict(Enum):
    """The result of a comparison."""

    EQUAL = "equal"
    DIFFERENT = "different"
    BOTH_FAIL = "fails in both"
    MANIM_FAILS = "fails in Manim only"
    MANIM_VARIES = "differs from itself in Manim"


@dataclass(frozen=True)
class Comparison:
    """The verdict on one example, and the reason if it isn't ``EQUAL``."""

    example: Example
    verdict: Verdict
    reason: str = ""
    frames: int = 0


class Manim:
    """A process that runs Manim's command in its forks."""

    def __init__(self, portrait: bool = False) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-s", "-B", "-m", "fidelity.reference"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Manim reads manim.cfg in the current folder at import.
            cwd=_PORTRAIT if portrait else "/",
            env=_ENVIRONMENT | {"PYTHONPATH": str(_HERE), "PATH": os.environ["PATH"]},
        )

    def render(self, example: Example, folder: Path) -> Recording:
        assert self._process.stdin
        assert self._process.stdout
        (folder / "scene.py").write_text(example.code)
        request = {"folder": str(folder), "className": example.class_name, "size": example.size}
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline(), "Manim's process has ended"
        if not (folder / FILE_NAME).exists():
            return Recording(error=f"It died: {(folder / 'manim.log').read_text()[-200:].strip()}")
        return Recording.read(folder)

    def close(self) -> None:
        self._process.communicate()


class Bench:
    """Manim and the renderer, for videos of one orientation."""

    def __init__(self, portrait: bool = False) -> None:
        self._manim = Manim(portrait)
        self._zygote = Zygote(
            *["--portrait"] * portrait,
            module="fidelity.recording_zygote",
            environment=_ENVIRONMENT | {"PYTHONPATH": f"{RENDERER}{os.pathsep}{_HERE}"},
            also_leaves=[FILE_NAME],
        )

    def close(self) -> None:
        self._manim.close()
        self._zygote.close()

    def compare(self, example: Example) -> Comparison:
        expected = self._expected(example)
        actual = self._actual(example)
        if expected.error and actual.error:
            return Comparison(example, Verdict.BOTH_FAIL, expected.error)
        if expected.error:
            return Comparison(example, Verdict.MANIM_FAILS, expected.error)
        reason = _difference(expected, actual, example)
        if not reason:
            return Comparison(example, Verdict.EQUAL, frames=len(actual.flat()))
        again = _difference(expected, self._expected(example), example)
        return Comparison(example, Verdict.MANIM_VARIES if again else Verdict.DIFFERENT, reason)

    def _expected(self, example: Example) -> Recording:
        with tempfile.TemporaryDirectory() as folder:
            return self._manim.render(example, Path(folder))

    def _actual(self, example: Example, **changes: Any) -> Recording:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            width, height, fps = example.size
            job = render_job(
                example.code, example.class_name, widthPx=width, heightPx=height, fps=fps, **changes
            )
            outcome = self._zygote.run(folder, job)
            if outcome.result["type"] != "done":
                return Recording(error=outcome.error)
            self._zygote.await_idle()  # what a render leaves is exported after its end is reported
            recording = Recording.read(folder)
            assert outcome.result["frames"] == len(recording.flat())
            if (captions := folder / "captions.vtt").exists():
                recording.captions = _cues(captions.read_text("utf-8"))
            return recording


def compare_all(examples: list[Example]) -> Iterator[Comparison]:
    """Compare examples, one at a time per CPU; yield the results in order."""
    benches: dict[tuple[int, bool], Bench] = {}

    def compare(example: Example) -> Comparison:
        key = threading.get_ident(), example.portrait
        if key not in benches:
            benches[key] = Bench(example.portrait)
        return benches[key].compare(example)

    try:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            yield from pool.map(compare, examples)
    finally:
        for bench in benches.values():
            bench.close()


def _cues(vtt: str) -> list[tuple[int, int, str]]:
    def ms(h: str, m: str, s: str, ms: str) -> int:
        return ((int(h) * 60 + int(m)) * 60 + int(s)) * 1000 + int(ms)

    return [(ms(*cue[:4]), ms(*cue[4:8]), html.unescape(cue[8])) for cue in _CUE.findall(vtt)]


def _difference(expected: Recording, actual: Recording, example: Example) -> str:
    """Describe how the renderer's recording differs from Manim's; empty if they are equal."""
    if actual.error:
        return f"the renderer says: {actual.error}"
    frames, fps = expected.flat(), example.size[2]
    if not frames and expected.picture and not actual.picture:
        frames = [expected.picture] * fps
    if len(frames) != len(actual.flat()):
        return f"{len(actual.flat())} frames instead of {len(frames)}"
    unequal = [
        number for number, pair in enumerate(zip(frames, actual.flat(), strict=True)) if pair[0] != pair[1]
    ]
    if unequal:
        return f"{len(unequal)} of {len(frames)} frames, the first is number {unequal[0]}"
    if sorted(expected.captions) != sorted(actual.captions):
        return f"captions {actual.captions} instead of {expected.captions}"
    if expected.sound != actual.sound:
        return f"sound {actual.sound} instead of {expected.sound}"
    return ""
