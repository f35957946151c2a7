"""Sounds for scenes with narration, and what is seen and heard of their videos."""

import json
import wave
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

RATE_HZ = 44_100
_BURST_S = 0.08
_LOUD = 3000
_QUIET_S = 0.2


def write_bursts(path: Path, seconds: float, at: Iterable[float] = (0.0,)) -> Path:
    """Write a sound with short tones in silence, in the format that the name ends in."""
    samples = np.zeros(round(seconds * RATE_HZ))
    tone = 12_000 * np.sin(np.arange(round(_BURST_S * RATE_HZ)) * 2 * np.pi * 880 / RATE_HZ)
    for start in at:
        first = round(start * RATE_HZ)
        samples[first : first + len(tone)] = tone[: len(samples) - first]
    path.parent.mkdir(parents=True, exist_ok=True)
    data = samples.astype("<i2")
    if path.suffix == ".wav":
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE_HZ)
            file.writeframes(data.tobytes())
    else:
        _encode(path, data)
    return path


def _encode(path: Path, data: NDArray[np.int16]) -> None:
    codecs = {".mp3": "mp3", ".flac": "flac", ".m4a": "aac", ".ogg": "flac"}
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codecs[path.suffix], rate=RATE_HZ, layout="mono")
        assert isinstance(stream, av.AudioStream)
        frame = av.AudioFrame.from_ndarray(data.reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = RATE_HZ
        frame.pts = 0
        for packets in (stream.encode(frame), stream.encode(None)):
            container.mux(packets)


def write_narration(folder: Path, *entries: dict[str, Any]) -> None:
    (folder / "narration.json").write_text(json.dumps({"entries": entries}))


def heard(video: Path) -> list[float]:
    """When tones begin in the sound of a video, in seconds."""
    with av.open(str(video)) as container:
        frames = [*container.decode(container.streams.audio[0])]
        rate = frames[0].sample_rate
        start = float((frames[0].pts or 0) * (frames[0].time_base or 0))
        samples = np.concatenate([np.abs(frame.to_ndarray()).max(axis=0) for frame in frames])
    scale = 32_768 if samples.max() <= 2 else 1
    loud = np.flatnonzero(samples * scale > _LOUD)
    first = np.flatnonzero(np.diff(loud, prepend=-RATE_HZ) > _QUIET_S * rate)
    return [start + float(loud[index]) / rate for index in first]


def seen(video: Path) -> list[float]:
    """When the picture of a video changes, in seconds; also its beginning."""
    times, last = [], None
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            level = int(frame.to_ndarray(format="gray")[::8, ::8].mean())
            if last is None or abs(level - last) > 3:
                times.append(float((frame.pts or 0) * (frame.time_base or 0)))
            last = level
    return times


def captioned(captions: Path) -> list[tuple[float, float, str]]:
    """The captions of a WebVTT file: beginning and end in seconds, and text."""
    found = []
    for block in captions.read_text().split("\n\n")[1:]:
        lines = block.strip().split("\n")
        begin, end = (_seconds(time) for time in lines[0].split(" --> "))
        found.append((begin, end, "\n".join(lines[1:])))
    return found


def _seconds(time: str) -> float:
    hours, minutes, seconds = time.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
