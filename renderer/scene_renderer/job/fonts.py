"""The fonts among the files of a job, which only texts of its own process find.

They are added to fontconfig's list in this process; the zygote and its other forks have lists of their own.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import manimpango
from manim import MarkupText, Text

from ..replacing import replace

_SUFFIXES = (".ttf", ".otf", ".ttc")
_FONTS_MAX = 50


def register(files: Path) -> None:
    """Let texts find the fonts below a folder by the names of their families.

    A file that is no font is left out: Manim warns of a family that it doesn't know.
    """
    fonts = sorted(_below(files))
    if not fonts:
        return
    if len(fonts) > _FONTS_MAX:
        print(f"Of {len(fonts)} font files, only the first {_FONTS_MAX} are used.", file=sys.stderr)
        del fonts[_FONTS_MAX:]
    _register(fonts)
    unregister = manimpango.unregister_font

    def unregister_font(font_path: str) -> None:
        """Remove all fonts that were added, as ManimPango does, and add those of the job again."""
        unregister(font_path)
        _register(fonts)

    # Called at the end of `with register_font(…)`.
    replace(manimpango, unregister_font=unregister_font)
    Text.font_list.cache_clear()
    MarkupText.font_list.cache_clear()


def _below(folder: Path) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        yield from (os.path.join(place, name) for name in names if name.lower().endswith(_SUFFIXES))


def _register(fonts: list[str]) -> None:
    for font in fonts:
        with suppress(UnicodeError):  # a name that is no text
            manimpango.register_font(font)
