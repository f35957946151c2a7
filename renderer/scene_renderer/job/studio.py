"""The studio folder with ``fonts``, ``python``, ``assets`` and ``texmf``, which every scene may read.

The zygote reads only its fonts, which fontconfig finds as it finds a user's fonts. Modules are read by the
scenes that import them, so a broken one affects no others.
"""

import os
import sys
from pathlib import Path

from manim import config


def folder() -> Path | None:
    """Return the studio folder; None if there is none."""
    place = os.environ.get("XDG_DATA_HOME")
    return Path(place) if place else None


def open_to_scenes() -> None:
    """Let the scene import the studio's modules and use its assets and TeX files."""
    if (studio := folder()) is None:
        return
    if (modules := studio / "python").is_dir():
        sys.path.append(str(modules))  # last, so its modules can't shadow those of Manim or the renderer
    if (assets := studio / "assets").is_dir():
        config.assets_dir = assets
    if (texmf := studio / "texmf").is_dir():
        os.environ["TEXMFHOME"] = str(texmf)
