"""The names of all commands that LaTeX knows after Manim's preamble, from the format that has read it."""

import itertools
import struct
from functools import cache
from pathlib import Path

from ..tex import typesetting

# The strings of one character come first; those of control characters are written with three, such as ^^A.
_FIRST = struct.pack(">6i", 0, 3, 6, 9, 12, 15)
_NAMES_MIN = 5_000


@cache
def commands() -> frozenset[str] | None:
    """Return the names; None if they aren't known. Some of them may have no meaning."""
    file = typesetting.format_file()
    return None if file is None else read(file)


def read(file: Path) -> frozenset[str] | None:
    """Return all strings of a format of TeX that isn't compressed; None if it can't be read."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    start = data.find(_FIRST)
    if start < 4:
        return None
    (count,) = struct.unpack(">i", data[start - 4 : start])
    if not 0 < count < len(data) // 4:
        return None
    starts = struct.unpack(f">{count + 1}i", data[start : start + 4 * (count + 1)])
    pool = data[start + 4 * (count + 1) :]
    if any(one > other for one, other in itertools.pairwise(starts)) or starts[-1] > len(pool):
        return None
    pairs = itertools.pairwise(starts)
    names = frozenset(pool[one:other].decode("latin-1") for one, other in pairs)
    return names if len(names) > _NAMES_MIN and {"frac", "alpha", "align*"} <= names else None
