"""Compares videos with the frames that they were made from: ``quality.py frames.tar VIDEO …``.

Prints a JSON array with one object for each video: its number of frames, and the mean SSIM and PSNR of its
luma. Both are computed in the pixel format of the videos, so that they show what the encoder lost. Without
frames (``-``) it only counts those of the videos.
"""

import io
import json
import sys
import tarfile
from collections.abc import Iterator
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from av.video.reformatter import VideoReformatter
from PIL import Image

Luma = npt.NDArray[np.float64]
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
PSNR_MAX = 100.0


def originals(path: str) -> Iterator[Luma]:
    """Yield the luma of the pictures in an archive."""
    reformatter = VideoReformatter()
    with tarfile.open(path) as archive:
        for entry in archive:
            data = archive.extractfile(entry)
            assert data
            pixels = np.asarray(Image.open(io.BytesIO(data.read())).convert("RGBA"))
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(pixels), format="rgba")
            yield luma(reformatter.reformat(frame, format="yuv420p"))


def luma(frame: av.VideoFrame) -> Luma:
    """Return the first plane of a yuv420p frame."""
    return frame.to_ndarray()[: frame.height].astype(np.float64)


def ssim(a: Luma, b: Luma) -> float:
    """Return the mean SSIM over windows of 8 by 8 pixels, 4 pixels apart."""

    def windows(values: Luma) -> Luma:
        height, width = (side // 4 * 4 for side in values.shape)
        blocks: Luma = values[:height, :width].reshape(height // 4, 4, width // 4, 4).sum(axis=(1, 3))
        sums: Luma = blocks[:-1, :-1] + blocks[1:, :-1] + blocks[:-1, 1:] + blocks[1:, 1:]
        return sums

    count = 64.0
    mean_a, mean_b = windows(a) / count, windows(b) / count
    variances = (windows(a * a) + windows(b * b)) / count - mean_a**2 - mean_b**2
    covariance = windows(a * b) / count - mean_a * mean_b
    similarity = ((2 * mean_a * mean_b + C1) * (2 * covariance + C2)) / (
        (mean_a**2 + mean_b**2 + C1) * (variances + C2)
    )
    return float(similarity.mean())


def compare(frames: str, video: str) -> dict[str, Any]:
    """Return the number of frames of a video and its means."""
    if frames == "-":
        with av.open(video) as container:
            return {"frames": container.streams.video[0].frames, "ssim": None, "psnr": None}
    similarities: list[float] = []
    errors: list[float] = []
    with av.open(video) as container:
        decoded = container.decode(video=0)
        for original in originals(frames):
            frame = next(decoded, None)
            if frame is None:
                return {"frames": len(errors), "ssim": None, "psnr": None}
            shown = luma(frame)
            similarities.append(ssim(original, shown))
            errors.append(float(np.mean((original - shown) ** 2)))
        more = sum(1 for _ in decoded)
    return {
        "frames": len(errors) + more,
        "ssim": float(np.mean(similarities)),
        "psnr": mean_psnr(errors),
    }


def mean_psnr(errors: list[float]) -> float:
    """Return the PSNR of the mean of squared errors, in dB."""
    mean = float(np.mean(errors))
    return PSNR_MAX if mean == 0 else min(PSNR_MAX, 10 * float(np.log10(255**2 / mean)))


if __name__ == "__main__":
    print(json.dumps([compare(sys.argv[1], video) for video in sys.argv[2:]]))
