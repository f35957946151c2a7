"""A sound file for scenes."""

import wave
from pathlib import Path

import numpy as np


def write_tone(path: Path, seconds: float, rate_hz: int, channels: int) -> None:
    samples = np.sin(np.arange(int(seconds * rate_hz)) * 0.05) * 9000
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        file.writeframes(np.repeat(samples.astype("<i2"), channels).tobytes())
