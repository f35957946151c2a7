"""The file with the expressions of one owner that are kept from one job to another.

A job only reads it. It is written by a process without scene code (`tex_fill`) and replaced as a whole.
Checksums tell damage: what doesn't fit them isn't there.

Layout: a mark, the length and checksum of the index, the index, and the compressed SVG files. The index says
which installation of TeX the expressions were set with, and for each of them where its SVG file is, its
checksum, and the names of the files that LaTeX has read.
"""

import hashlib
import json
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "tex-pack"
_MARK = b"scenepress tex 2\n"
_HEAD = len(_MARK) + 4 + 32
BYTES_MAX = 8 * 1024 * 1024
_SVG_BYTES_MAX = 4 * 1024 * 1024
_ENTRIES_MAX = 4096


@dataclass(frozen=True)
class Kept:
    """An expression: its SVG file, compressed, and the names of the files that LaTeX has read."""

    packed: bytes
    names: frozenset[str]

    @staticmethod
    def of(svg: str, names: frozenset[str]) -> "Kept":
        """Compress an SVG file."""
        return Kept(zlib.compress(svg.encode(), 1), names)

    def svg(self) -> str | None:
        """Return the SVG file; None if it can't be."""
        with suppress(zlib.error, UnicodeDecodeError):
            inflater = zlib.decompressobj()
            svg = inflater.decompress(self.packed, _SVG_BYTES_MAX)
            if inflater.eof:
                return svg.decode()
        return None


def key_of(source: str) -> str:
    """Return the key of a document for LaTeX."""
    return hashlib.sha256(source.encode()).hexdigest()


class Pack:
    """The expressions of a file. Nothing is checked before it is asked for."""

    def __init__(self, data: bytes, index: dict[str, Any]) -> None:
        self._data = data
        self._entries: dict[str, list[Any]] = index["entries"]
        self._names = [frozenset(names) for names in index["names"]]

    @staticmethod
    def read(path: Path, installation: str) -> "Pack | None":
        """Read a file; None if it isn't there, is damaged or was written with another installation."""
        try:
            with open(path, "rb") as file:
                data = file.read(BYTES_MAX + 1)
            length = int.from_bytes(data[len(_MARK) : len(_MARK) + 4], "big")
            index = data[_HEAD : _HEAD + length]
            if not data.startswith(_MARK) or hashlib.sha256(index).digest() != data[_HEAD - 32 : _HEAD]:
                return None
            parsed = json.loads(index)
            return Pack(data[_HEAD + length :], parsed) if parsed["installation"] == installation else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def find(self, key: str) -> Kept | None:
        """Return an expression; None if it isn't there or damaged."""
        try:
            start, length, digest, number = self._entries[key]
            packed = self._data[start : start + length]
            if hashlib.sha256(packed).hexdigest() == digest:
                return Kept(packed, self._names[number])
        except (KeyError, IndexError, TypeError, ValueError):
            pass
        return None

    def all(self) -> dict[str, Kept]:
        """Return all expressions that aren't damaged, the oldest first."""
        found = {key: self.find(key) for key in self._entries}
        return {key: kept for key, kept in found.items() if kept is not None}


def packed(entries: dict[str, Kept], installation: str) -> bytes:
    """Return a file with the last ones of these expressions: as many as it may contain."""
    numbers: dict[frozenset[str], int] = {}
    chosen: list[tuple[str, Kept]] = []
    size = 0
    for key, kept in reversed(entries.items()):
        # Its part of the index is at most some 200 bytes; names are shared.
        new_names = 0 if kept.names in numbers else sum(len(name) + 16 for name in kept.names)
        size += len(kept.packed) + 256 + new_names
        if size > BYTES_MAX - 4096 or len(chosen) == _ENTRIES_MAX:
            break
        numbers.setdefault(kept.names, len(numbers))
        chosen.append((key, kept))
    index: dict[str, Any] = {
        "installation": installation,
        "names": [sorted(names) for names in numbers],
        "entries": {},
    }
    body = bytearray()
    for key, kept in reversed(chosen):
        digest = hashlib.sha256(kept.packed).hexdigest()
        index["entries"][key] = [len(body), len(kept.packed), digest, numbers[kept.names]]
        body += kept.packed
    text = json.dumps(index, separators=(",", ":")).encode()
    return _MARK + len(text).to_bytes(4, "big") + hashlib.sha256(text).digest() + text + bytes(body)
