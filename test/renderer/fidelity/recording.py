"""The recording of a render that both programs make for comparison."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FILE_NAME = "recording.json"


@dataclass
class Recording:
    """The frames handed to the encoder, as runs of (hash, count), with captions and sound.

    `picture` is the hash of what Manim saves when nothing was played.
    """

    frames: list[tuple[str, int]] = field(default_factory=list)
    picture: str | None = None
    captions: list[tuple[int, int, str]] = field(default_factory=list)
    sound: str | None = None
    error: str | None = None

    def add(self, pixels: Any, repeat: int) -> None:
        self.frames.append((digest(pixels), repeat))

    def flat(self) -> list[str]:
        return [name for name, repeat in self.frames for _ in range(repeat)]

    def write(self, folder: Path) -> None:
        (folder / FILE_NAME).write_text(json.dumps(vars(self)))

    @classmethod
    def read(cls, folder: Path) -> "Recording":
        recording = cls(**json.loads((folder / FILE_NAME).read_text()))
        recording.frames = [(name, repeat) for name, repeat in recording.frames]
        recording.captions = [(start, end, text) for start, end, text in recording.captions]
        return recording


def digest(pixels: Any) -> str:
    """Return a hash of a frame: its shape, type and bytes."""
    head = f"{pixels.shape} {pixels.dtype} ".encode()
    return hashlib.sha256(head + pixels.tobytes()).hexdigest()[:16]


def describe_sound(segment: Any) -> str:
    """Return the format of a pydub segment and a hash of its samples."""
    samples = hashlib.sha256(segment.raw_data).hexdigest()[:16]
    return (
        f"{segment.frame_rate} Hz, {segment.channels} ch, {8 * segment.sample_width} bit, "
        f"{segment.duration_seconds:.3f} s, {samples}"
    )
