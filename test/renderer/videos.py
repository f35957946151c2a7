"""Properties of a video as reported by ffprobe, independently of the renderer."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import av


def streams(path: Path) -> list[dict[str, Any]]:
    command = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", str(path)]
    found: list[dict[str, Any]] = json.loads(subprocess.check_output(command))["streams"]
    return found


def frame_times_s(path: Path) -> list[float]:
    command = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "frame=pts_time"]
    return [
        float(line.strip(","))
        for line in subprocess.check_output([*command, "-of", "csv=p=0", str(path)], text=True).split()
    ]


def boxes(path: Path) -> list[bytes]:
    """The names of an MP4's outermost boxes, in order."""
    data, names, place = path.read_bytes(), [], 0
    while place < len(data):
        names.append(data[place + 4 : place + 8])
        place += int.from_bytes(data[place : place + 4])
    return names


def contents(path: Path) -> list[tuple[str, Fraction, bytes]]:
    """The decoded frames of picture and sound: kind, time in seconds and bytes of each."""
    with av.open(str(path)) as container:
        frames = [
            (type(frame).__name__, (frame.pts or 0) * frame.time_base, frame.to_ndarray().tobytes())
            for frame in container.decode()
            if isinstance(frame, av.VideoFrame | av.AudioFrame) and frame.time_base
        ]
    return sorted(frames)
