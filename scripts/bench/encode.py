"""Encodes the frames of a scene with several settings of x264: ``encode.py FILE CLASS WIDTH HEIGHT FPS SETTINGS…``.

Settings are written as ``preset:name=value:…``. Prints JSON: for each of them, and first for those of Manim, which
encodes each play on its own, the CPU time, the size and what was lost, as mean SSIM and PSNR of the luma of 40 frames.
"""

import io
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from quality import luma, mean_psnr, ssim
from sample import Channel, job_of

from scene_renderer import warm_up
from scene_renderer.encoder import mp4
from scene_renderer.encoder.picture import Shown
from scene_renderer.encoder.repeats import Encoder, RepeatingEncoder

MANIM = "medium:crf=23"
THREADS = 4
COMPARED = 40
RATE_CONTROL = {"crf": "", "rc-lookahead": ""}


@dataclass
class Shot:
    """A frame in yuv420p and its number of repetitions; `first`: it begins a play."""

    frame: av.VideoFrame
    repeat: int
    first: bool


def record(arguments: list[str]) -> tuple[list[Shot], int]:
    """Render a scene; return its frames, and its frames per second."""
    from scene_renderer.video import movie
    from scene_renderer.video.conversion import Converter

    shots: list[Shot] = []

    class Recorder(movie.Movie):
        def _drawn(self, frame: Any) -> Any:
            canvas = super()._drawn(frame)
            converter = Converter(self._form)
            rows = converter.convert(canvas.pixels, canvas.whole)
            shown = Shown(self._form, converter.picture)
            shown.change(rows)
            shots.append(Shot(shown.frame(), frame.count, frame.begins_play or not shots))
            return canvas

    vars(movie)["Movie"] = Recorder
    from scene_renderer.job.rendering import render

    job, channel = job_of(arguments), Channel()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        render(job, Path(folder), channel)  # type: ignore[arg-type] # what it calls
        os.chdir("/")
    if "error" in channel.report:
        sys.exit(channel.report["error"])
    return shots, job.fps


def encode_all(shots: list[Shot], fps: int, settings: str, *, sliced: bool) -> tuple[bytes, float, float]:
    """Return a video of the shots, and the CPU and wall-clock seconds that it took."""
    preset, *others = settings.split(":")
    options = {"preset": preset, **dict(other.split("=") for other in others)}
    file = io.BytesIO()
    began, used = time.perf_counter(), time.process_time()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=fps, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = shots[0].frame.width, shots[0].frame.height, "yuv420p"
        if not sliced:
            stream.codec_context.thread_count = THREADS
            stream.codec_context.thread_type = "FRAME"
        encoder = RepeatingEncoder(stream, options) if repeats(options) else Encoder(stream)
        for shot in shots:
            shot.frame.time_base = Fraction(1, fps)
            for packet in encoder.show(shot.frame, shot.repeat, is_new=True):
                container.mux(packet)
        for packet in encoder.finish():
            container.mux(packet)
    return file.getvalue(), time.process_time() - used, time.perf_counter() - began


def repeats(options: dict[str, str]) -> bool:
    """Whether pictures can be repeated (`encoder/repeats.py`), as in the renderer: only the rate control may differ."""
    return {**options, **RATE_CONTROL}.items() >= {**mp4.OPTIONS, **RATE_CONTROL}.items()


def measure(shots: list[Shot], fps: int, settings: str, *, plays: list[list[Shot]]) -> dict[str, Any]:
    """Return what settings make of the shots, encoded by plays."""
    size = 0
    cpu = wall = 0.0
    similarities: list[float] = []
    errors: list[float] = []
    stride = -(-sum(map(len, plays)) // COMPARED)
    number = 0
    for play in plays:
        video, play_cpu, play_wall = encode_all(play, fps, settings, sliced=settings == MANIM)
        size, cpu, wall = size + len(video), cpu + play_cpu, wall + play_wall
        with av.open(io.BytesIO(video), "r") as container:
            decoded = container.decode(video=0)
            for shot in play:
                frames = [next(decoded) for _ in range(shot.repeat)]
                if number % stride == 0:
                    original, shown = luma(shot.frame), luma(frames[-1])
                    similarities.append(ssim(original, shown))
                    errors.append(float(((original - shown) ** 2).mean()))
                number += 1
    return {
        "settings": settings,
        "cpuMs": cpu * 1000,
        "wallMs": wall * 1000,
        "bytes": size,
        "ssim": sum(similarities) / len(similarities),
        "psnr": mean_psnr(errors),
    }


def main() -> None:
    """Render, encode and print."""
    arguments, settings = sys.argv[1:6], sys.argv[6:]
    output = os.fdopen(os.dup(1), "w")  # a render replaces standard output
    warm_up.run()
    shots, fps = record(arguments)
    plays: list[list[Shot]] = []
    for shot in shots:
        if shot.first or not plays:
            plays.append([])
        plays[-1].append(shot)
    results = [measure(shots, fps, MANIM, plays=plays)]
    results += [measure(shots, fps, one, plays=[shots]) for one in settings]
    json.dump({"results": results}, output)
    output.close()


main()
