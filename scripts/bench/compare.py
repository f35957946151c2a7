"""Compares two videos of a scene, frame by frame: ``compare.py FIRST SECOND STEP``.

Prints JSON: the number of frames of both, how many pairs of frames are equal, the mean and the lowest SSIM
and the PSNR of the luma of every ``STEP``-th pair, and whether the sounds are the same, packet by packet.
"""

import hashlib
import itertools
import json
import sys
from typing import Any

import av
import numpy as np
from quality import PSNR_MAX, luma, mean_psnr, ssim


def compare(first: str, second: str, step: int) -> dict[str, Any]:
    """Return what the two videos have in common."""
    similarities: list[float] = []
    errors: list[float] = []
    equal = 0
    counts = [0, 0]
    with av.open(first) as one, av.open(second) as other:
        pairs = itertools.zip_longest(one.decode(video=0), other.decode(video=0))
        for number, (left, right) in enumerate(pairs):
            counts = [counts[0] + (left is not None), counts[1] + (right is not None)]
            if left is None or right is None:
                continue
            planes = left.to_ndarray(), right.to_ndarray()
            same = np.array_equal(*planes)
            equal += same
            if number % step == 0:
                lumas = luma(left), luma(right)
                similarities.append(1.0 if same else ssim(*lumas))
                errors.append(0.0 if same else float(np.mean((lumas[0] - lumas[1]) ** 2)))
    return {
        "frames": counts,
        "equal": equal,
        "ssim": float(np.mean(similarities)) if similarities else 0.0,
        "lowestSsim": min(similarities, default=0.0),
        "psnr": mean_psnr(errors) if errors else PSNR_MAX,
        "sameSound": sound(first) == sound(second),
    }


def sound(video: str) -> str:
    """Return a hash of the packets of sound and their times."""
    digest = hashlib.sha256()
    with av.open(video) as container:
        for stream in container.streams.audio[:1]:
            for packet in container.demux(stream):
                digest.update(str(packet.pts).encode() + bytes(packet))
    return digest.hexdigest()


if __name__ == "__main__":
    print(json.dumps(compare(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
