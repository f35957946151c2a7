"""Divides what is said into captions."""

import math

CHARACTERS_MAX = 70
GAP_S = 0.1

# Begin, end and text of a caption.
Caption = tuple[float, float, str]


def wrapped(
    text: str, seconds: float, characters_max: int = CHARACTERS_MAX, gap_s: float = GAP_S
) -> list[Caption]:
    """Return a text as captions over some seconds, one after the other.

    They have about equal numbers of words, and times by their characters.
    """
    parts = _parts(" ".join(text.split()), characters_max)
    characters = sum(map(len, parts))
    found = []
    start = 0.0
    for part in parts:
        length = seconds * len(part) / characters
        gap = 0.0 if part is parts[-1] else min(gap_s, length / 2)
        found.append((start, start + length - gap, part))
        start += length
    return found


def timed(words: list[tuple[str, float]], seconds: float) -> list[Caption]:
    """Return words, with the seconds at which they are said, as captions that last until the next one."""
    lines: list[list[tuple[str, float]]] = []
    for text, start in sorted(words, key=lambda word: word[1]):
        length = sum(len(said) + 1 for said, _ in lines[-1]) if lines else CHARACTERS_MAX
        if length + len(text) > CHARACTERS_MAX:
            lines.append([])
        lines[-1].append((text, start))
    ends = [line[0][1] for line in lines[1:]] + [seconds]
    return [
        (line[0][1], max(end, line[-1][1]), " ".join(text for text, _ in line))
        for line, end in zip(lines, ends, strict=True)
    ]


def _parts(text: str, characters_max: int) -> list[str]:
    """Divide a text into parts of about equal numbers of words, if it is longer than that."""
    words = text.split(" ")
    count = math.ceil(len(text) / max(1, characters_max))
    size = math.ceil(len(words) / max(1, count))
    parts = [" ".join(words[start : start + size]) for start in range(0, len(words), size)]
    return [part for part in parts if part]
