"""Writes the files of the lectures, ``picture.png`` and ``chime.wav``: ``materials.py FOLDER``."""

import sys
import wave
from pathlib import Path

import numpy as np
from PIL import Image

RATE = 44_100


def write_picture(file: Path) -> None:
    """Write a picture with smooth and sharp parts."""
    y, x = np.mgrid[0:128, 0:192] / 128
    rings = np.sin(40 * np.hypot(x - 0.75, y - 0.5)) > 0
    colours = np.stack([x / 1.5, 0.5 + 0.5 * np.sin(6 * y), np.where(rings, 0.9, 0.2)], axis=-1)
    Image.fromarray((255 * colours).clip(0, 255).astype(np.uint8)).save(file)


def write_chime(file: Path) -> None:
    """Write three tones of half a second that fade."""
    time = np.arange(RATE // 2) / RATE
    tones = [np.sin(2 * np.pi * pitch * time) * np.exp(-8 * time) for pitch in (523, 659, 784)]
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes((9000 * np.concatenate(tones)).astype("<i2").tobytes())


if __name__ == "__main__":
    write_picture(Path(sys.argv[1]) / "picture.png")
    write_chime(Path(sys.argv[1]) / "chime.wav")
    print("null")
