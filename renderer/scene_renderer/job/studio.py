"""The studio folder with ``fonts``, ``python``, ``assets`` and ``texmf``, which every scene may read.

After its modules come those that the renderer has for scenes, so one of the studio wins.

The zygote reads only its fonts, which fontconfig finds as it finds a user's fonts. Modules are read by the
scenes that import them, so a broken one affects no others.
"""

import os
import sys
from pathlib import Path

from manim import config

# The modules that the renderer has for scenes, such as `scenepress_scene`.
_FOR_SCENES = Path(__file__).parents[1] / "for_scenes"


def folder() -> Path | None:
    """Return the studio folder; None if there is none."""
    place = os.environ.get("XDG_DATA_HOME")
    return Path(place) if place else None


def open_to_scenes() -> None:
    """Let the scene import modules of studio and renderer, and use the studio's assets and TeX files."""
    if (studio := folder()) is not None:
        _open(studio)
    sys.path.append(str(_FOR_SCENES))


def _open(studio: Path) -> None:
    if (modules := studio / "python").is_dir():
        sys.path.append(str(modules))  # last, so its modules can't shadow those of Manim or the renderer
    if (assets := studio / "assets").is_dir():
        config.assets_dir = assets
    if (texmf := studio / "texmf").is_dir():
        os.environ["TEXMFHOME"] = str(texmf)
