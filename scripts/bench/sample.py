"""Renders a scene as a job does, without a sandbox, and prints where its time went as JSON.

``sample.py FILE CLASS WIDTH HEIGHT FPS``. A timer interrupts the thread that runs the scene every two
milliseconds; the function that is running then, and those that called it, are counted. The time of a native
function is that of the Python function that calls it.
"""

import json
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from scene_renderer import warm_up
from scene_renderer.messages import EncodeJob, JobLimits, RenderJob

INTERVAL_S = 0.002
MOST = 30
UNLIMITED = 2**40

Function = tuple[str, str, int]


class Channel:
    """Keeps the reports of a job."""

    def __init__(self) -> None:
        self.report: dict[str, Any] = {}

    def work(self, times: dict[str, float]) -> None:
        self.report["workMs"] = times

    def progress(self, frames: int, seconds: float, *, is_whole: bool = False) -> None:
        self.report["frames"] = frames

    def failed(self, error: str, failed_by: str) -> None:
        self.report["error"] = error

    def output(self, text: str) -> None:
        self.report["output"] = self.report.get("output", "") + text

    def ignore(self, *_: object) -> None:
        pass

    stage = preview = plays = place = done = encoded = await_end_of_render = ignore


class Samples:
    """Counts functions: those that run (`own`), and all that have called them (`total`)."""

    def __init__(self) -> None:
        self.count = 0
        self.own: Counter[Function] = Counter()
        self.total: Counter[Function] = Counter()

    def start(self) -> None:
        signal.signal(signal.SIGALRM, self._take)
        signal.setitimer(signal.ITIMER_REAL, INTERVAL_S, INTERVAL_S)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _take(self, _: int, frame: FrameType | None) -> None:
        self.count += 1
        functions = []
        while frame is not None:
            code = frame.f_code
            functions.append((code.co_filename, code.co_qualname, code.co_firstlineno))
            frame = frame.f_back
        if functions:
            self.own[functions[0]] += 1
            self.total.update(set(functions))

    def shares(self, counts: Counter[Function]) -> list[dict[str, Any]]:
        """Return the most frequent functions and their shares."""
        return [
            {"function": name, "place": f"{_short(path)}:{line}", "share": number / max(1, self.count)}
            for (path, name, line), number in counts.most_common(MOST)
        ]


def _short(path: str) -> str:
    return path.split("site-packages/")[-1].split("/renderer/")[-1]


def job_of(arguments: list[str]) -> RenderJob:
    """Return a job without limits: file, class, width, height and frames per second."""
    path, class_name, *numbers = arguments
    limits = JobLimits(UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED)
    code = Path(path).read_text(encoding="utf-8")
    width_px, height_px, fps = map(int, numbers)
    return RenderJob(
        code=code,
        is_bytes=False,
        class_name=class_name,
        width_px=width_px,
        height_px=height_px,
        fps=fps,
        local=None,
        still=None,
        inspect=None,
        part=None,
        pictures=[],
        seed=None,
        params="{}",
        audio=[],
        has_speech=False,
        is_tex_held=False,
        is_transparent=False,
        has_colours=False,
        has_sections=False,
        limits=limits,
    )


def render(job: RenderJob) -> dict[str, Any]:
    """Render a scene, encode it in another process and return the report."""
    from scene_renderer.job.rendering import render as render_job

    channel, samples = Channel(), Samples()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        frames = _encoder_of(job, Path(folder))
        began, used, alone = time.perf_counter(), time.process_time(), time.thread_time()
        samples.start()
        render_job(job, Path(folder), channel, frames)  # type: ignore[arg-type] # what it calls
        samples.stop()
        wall, cpu = time.perf_counter() - began, time.process_time() - used
        serial = time.thread_time() - alone
        frames.close()
        os.wait()
        os.chdir("/")
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return channel.report | {
        "wallMs": wall * 1000,
        "cpuMs": (cpu + others.ru_utime + others.ru_stime) * 1000,
        "sceneThreadMs": serial * 1000,
        "drawingThreadsMs": _drawing_seconds() * 1000,
        "own": samples.shares(samples.own),
        "total": samples.shares(samples.total),
    }


def _encoder_of(job: RenderJob, folder: Path) -> socket.socket:
    """Return a connection to a process that encodes what a job sends."""
    from scene_renderer.encoder.encoding import encode

    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        size = (job.width_px, job.height_px, job.fps)
        encode_job = EncodeJob(job.class_name, *size, 0, None, "video", [], False, [], False, job.limits)
        encode(encode_job, folder, Channel(), theirs)  # type: ignore[arg-type] # what it calls
        os._exit(0)
    theirs.close()
    return ours


def _drawing_seconds() -> float:
    try:
        from scenepress_native import seconds
    except ImportError:  # not built: the scene's thread draws
        return 0.0
    return seconds()


def main() -> None:
    """Render in a fork of a warm process, like the service."""
    job = job_of(sys.argv[1:])
    warm_up.run()
    reader, writer = os.pipe()
    if os.fork() == 0:
        code = 1
        try:
            report = render(job)
            with open(writer, "w") as pipe:
                json.dump(report, pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader) as pipe:
        print(pipe.read())
    os.wait()


if __name__ == "__main__":
    main()
