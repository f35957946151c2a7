"""Checks the boxes of an MP4 (ISO/IEC 14496-12) before a demuxer reads them.

Accepts only the output of our own muxer: no other box types, no duplicates, no oversized boxes, no data
between or after them. This limits the general-purpose demuxer to two track types and some twenty box
types, and it never selects another codec.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from ..scene_error import SceneError

# A box contains either other boxes, after a number of bytes of its own, or at most a number of bytes. Tables
# have an entry per sample; the size of the whole index is limited.
_HEADER_BYTES, _LARGE_HEADER_BYTES = 8, 16
_SAMPLE_INDEX_BYTES = 64
_INDEX_BYTES = 16_384
_TABLE = _INDEX_BYTES + (1 << 30)


@dataclass(frozen=True)
class _Holder:
    """A box with `own_bytes` followed by other boxes. `boxes`: maximum count and content by name."""

    own_bytes: int
    boxes: "dict[str, tuple[int, _Holder | int]]"


def _once(**boxes: "_Holder | int") -> "dict[str, tuple[int, _Holder | int]]":
    return {name: (1, content) for name, content in boxes.items()}


_RATE = 12
_PICTURE = _Holder(78, _once(avcC=256, colr=32, pasp=8, btrt=_RATE, fiel=2))
_SOUND = _Holder(28, _once(esds=128, btrt=_RATE))
_DATA_PLACE = _Holder(0, _once(dref=_Holder(8, {"url ": (1, 4)})))
_TABLES = dict.fromkeys(("stts", "stss", "ctts", "stsc", "stsz", "stco", "co64", "sdtp"), _TABLE)
_SAMPLES = _Holder(0, _once(stsd=_Holder(8, _once(avc1=_PICTURE, mp4a=_SOUND)), sgpd=64, sbgp=64, **_TABLES))
_MEDIA = _Holder(0, _once(vmhd=12, smhd=8, dinf=_DATA_PLACE, stbl=_SAMPLES))
_TRACK = _Holder(
    0,
    _once(
        tkhd=96,
        edts=_Holder(0, _once(elst=64)),
        mdia=_Holder(0, _once(mdhd=36, hdlr=64, minf=_MEDIA)),
    ),
)
# `udta` contains the version of the muxer; it isn't published.
_INDEX = _Holder(0, {"mvhd": (1, 112), "trak": (2, _TRACK), "udta": (1, 256)})
_TOP = ("ftyp", "moov", "free", "mdat")
_FILE_TYPE_BYTES = 64


def check(file: BinaryIO, size_bytes: int, *, samples_max: int) -> None:
    """Raise SceneError unless a file has the boxes that our own muxer writes.

    `samples_max`: the maximum number of samples, of video and audio, in the index.
    """
    index = None
    for (name, start, end), expected in zip(_top(file, size_bytes), _TOP, strict=True):
        if name != expected:
            raise _strange(name)
        if (name == "ftyp" and end - start > _FILE_TYPE_BYTES) or (name == "free" and end > start):
            raise _strange(name)
        if name == "moov":
            if end - start > _INDEX_BYTES + samples_max * _SAMPLE_INDEX_BYTES:
                raise _strange(name)
            file.seek(start)
            index = file.read(end - start)
    assert index is not None
    _check(memoryview(index), _INDEX)
    file.seek(0)


def _top(file: BinaryIO, size_bytes: int) -> Iterator[tuple[str, int, int]]:
    """Yield name, start and end of the contents of each of the four outermost boxes."""
    place = 0
    for number in range(len(_TOP)):
        file.seek(place)
        header = file.read(_LARGE_HEADER_BYTES)
        length, name = int.from_bytes(header[:4]), header[4:8].decode("latin-1")
        start = place + _HEADER_BYTES
        if length == 1:  # a 64-bit length, which only media data can need
            length, start = int.from_bytes(header[8:16]), place + _LARGE_HEADER_BYTES
        if len(header) < _HEADER_BYTES or place + length > size_bytes or place + length < start:
            raise SceneError("The video is incomplete: its file ends too early.")
        yield name, start, place + length
        place += length
        if number == len(_TOP) - 1 and place != size_bytes:
            raise SceneError("The file contains data after the video.")


def _check(content: memoryview, holder: _Holder) -> None:
    place = holder.own_bytes
    seen = dict[str, int]()
    while place < len(content):
        length = int.from_bytes(content[place : place + 4])
        name = bytes(content[place + 4 : place + _HEADER_BYTES]).decode("latin-1")
        most, inside = holder.boxes.get(name, (0, 0))
        seen[name] = seen.get(name, 0) + 1
        if length < _HEADER_BYTES or place + length > len(content) or seen[name] > most:
            raise _strange(name)
        box = content[place + _HEADER_BYTES : place + length]
        if isinstance(inside, _Holder):
            _check(box, inside)
        elif len(box) > inside:
            raise _strange(name)
        place += length


def _strange(name: str) -> SceneError:
    return SceneError(f"The video's file isn't as the renderer writes it: see its box {name!a}.")
