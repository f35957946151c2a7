"""The index of a video: what its frames show, and where their packets are.

With it, a later encoding copies the packets of pictures that are equal (`copying.py`). It is made by the
encoder's process from what it has encoded itself, and never by a scene.

Pictures are told apart by XXH3, which takes a twentieth of the time of SHA-256. Its seed is random and
secret, so a scene cannot construct a second picture with the same digest.
"""

import hashlib
import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import av
import numpy as np
import numpy.typing as npt
import xxhash

from ..video.frames import Pixels
from . import slices
from .repeats import Copy

_MAGIC = b"SPVINDX1"
_HEAD = struct.Struct(">8s32sQII")
_SEED_BYTES, _PICTURE_BYTES = 8, 16
_BYTES_MAX = 67_108_864
_FRAMES_MAX = 2_000_000
_RUN_BYTES_MAX = 268_435_456

_Array: TypeAlias = npt.NDArray[Any]
# Its index and the MP4.
EarlierFiles: TypeAlias = tuple[BinaryIO, BinaryIO]
# Of each frame: the digest of its picture, and the place and size of its packet in the file.
_FRAME = np.dtype([("digest", f"V{_PICTURE_BYTES}"), ("place", ">u8"), ("size", ">u4")])
# Of each key frame: its number, and the digest of all packets from it to the next.
_RUN = np.dtype([("first", ">u4"), ("digest", "V32")])


@dataclass(frozen=True)
class Index:
    """The frames of a video and its runs: those from one key frame to the next.

    `settings`: a digest of everything that the packets depend on beside the pictures; `seed`: that of the
    pictures' digests.
    """

    settings: bytes
    seed: int
    frames: _Array
    runs: _Array

    @classmethod
    def parse(cls, data: bytes) -> "Index":
        """Parse what `to_bytes` made. Raises ValueError if it is something else."""
        if len(data) < _HEAD.size:
            raise ValueError("an index that is too short")
        magic, settings, seed, frame_count, run_count = _HEAD.unpack_from(data)
        if magic != _MAGIC or not 0 < run_count <= frame_count <= _FRAMES_MAX:
            raise ValueError("not an index")
        length = frame_count * _FRAME.itemsize + run_count * _RUN.itemsize
        unpacking = zlib.decompressobj()
        try:
            unpacked = unpacking.decompress(data[_HEAD.size :], length)
        except zlib.error as error:
            raise ValueError(str(error)) from None
        if len(unpacked) != length or not unpacking.eof or unpacking.unused_data:
            raise ValueError("an index of the wrong length")
        frames = np.frombuffer(unpacked, _FRAME, frame_count)
        runs = np.frombuffer(unpacked, _RUN, run_count, frame_count * _FRAME.itemsize)
        starts = runs["first"].astype(np.int64)
        if starts[0] != 0 or (np.diff(starts) < 1).any() or starts[-1] >= frame_count:
            raise ValueError("an index with wrong key frames")
        return cls(settings, seed, frames, runs)

    def to_bytes(self) -> bytes:
        """Return the index as it is stored."""
        data = self.frames.tobytes() + self.runs.tobytes()
        head = _HEAD.pack(_MAGIC, self.settings, self.seed, len(self.frames), len(self.runs))
        return head + zlib.compress(data, 1)


def new_seed() -> int:
    """Return a seed for the digests of pictures."""
    return int.from_bytes(os.urandom(_SEED_BYTES))


def digest_of(pixels: Pixels, seed: int) -> bytes:
    """Return the digest of a picture."""
    return xxhash.xxh3_128_digest(pixels.reshape(-1).data, seed)


def index_of(path: Path, settings: bytes, seed: int, pictures: Sequence[bytes]) -> Index:
    """Return the index of a finished MP4. `pictures`: the digest of each frame's picture."""
    frames = np.zeros(len(pictures), _FRAME)
    frames["digest"] = np.frombuffer(b"".join(pictures), f"V{_PICTURE_BYTES}")
    runs: list[tuple[int, Any]] = []
    with av.open(os.fspath(path)) as container:
        for number, packet in enumerate(packet for packet in container.demux(video=0) if packet.size):
            # Demuxers also call pictures key frames that only have no references.
            if any(
                slices.type_of(unit) == slices.KEY_SLICE for unit in slices.units_of_stored(bytes(packet))
            ):
                runs.append((number, hashlib.sha256()))
            runs[-1][1].update(packet)
            frames["place"][number] = packet.pos
            frames["size"][number] = packet.size
        assert number + 1 == len(pictures)
    digested = [(first, digest.digest()) for first, digest in runs]
    return Index(settings, seed, frames, np.array(digested, _RUN))


def open_earlier(files: EarlierFiles, settings: bytes) -> "EarlierVideo | None":
    """Return an earlier video; None if its files are damaged or it was made with other settings."""
    index, video = files
    try:
        parsed = Index.parse(index.read(_BYTES_MAX))
    except (OSError, ValueError):
        return None
    return EarlierVideo(parsed, video) if parsed.settings == settings else None


class EarlierVideo:
    """A video whose packets may be copied, and its index.

    `file`: the MP4; what it contains is compared with the index before it is used.
    """

    def __init__(self, index: Index, file: BinaryIO) -> None:
        self.seed = index.seed
        self._index = index
        self._file = file
        self._read: tuple[int, list[Copy] | None] = -1, None
        self._digests = [bytes(digest) for digest in index.frames["digest"]]
        self._firsts: list[int] = index.runs["first"].tolist()
        self._starts: dict[bytes, list[int]] = {}
        for first in self._firsts:
            self._starts.setdefault(self._digests[first], []).append(first)

    def starts(self, digest: bytes) -> list[int]:
        """Return the key frames that show a picture."""
        return self._starts.get(digest, [])

    def shows(self, frame: int, digest: bytes) -> bool:
        """Return whether a frame exists and shows a picture."""
        return frame < len(self._digests) and self._digests[frame] == digest

    def packet(self, frame: int) -> Copy | None:
        """Return the packet of a frame; None if the file isn't what it was, and from then on for all."""
        run = bisect_right(self._firsts, frame) - 1
        if self._read[0] != run:
            self._read = run, self._packets(run)
        packets = self._read[1]
        if packets is None:
            self._digests, self._starts = [], {}
            return None
        return packets[frame - self._firsts[run]]

    def _packets(self, run: int) -> list[Copy] | None:
        first, end = [*self._firsts, len(self._digests)][run : run + 2]
        frames = self._index.frames[first:end]
        if int(frames["size"].sum(dtype=np.uint64)) > _RUN_BYTES_MAX:
            return None
        digest = hashlib.sha256()
        packets: list[Copy] = []
        try:
            for place, size in zip(frames["place"].tolist(), frames["size"].tolist(), strict=True):
                data = os.pread(self._file.fileno(), size, place)
                digest.update(data)
                units = slices.units_of_stored(data)
                packets.append(Copy(slices.joined(units), is_key=not packets))
        except (OSError, ValueError, OverflowError):
            return None
        return packets if digest.digest() == bytes(self._index.runs["digest"][run]) else None
