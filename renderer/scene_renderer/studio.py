"""The studio's own material, which every scene may read: ``fonts``, ``python``, ``assets``.

The zygote reads the fonts with all others, since fontconfig looks for them where it looks for those of
a user. Of the rest it reads nothing: a module that is broken breaks only the scenes that import it.
"""

import os
import sys
from pathlib import Path


def folder() -> Path | None:
    """Return where the studio's folder is; None when there is none."""
    place = os.environ.get("XDG_DATA_HOME")
    return Path(place) if place else None


def open_to_scenes() -> None:
    """Let the scene import the studio's modules, and name its pictures and sounds."""
    if (studio := folder()) is None:
        return
    if (modules := studio / "python").is_dir():
        sys.path.append(str(modules))  # last: nothing that Manim or the renderer imports can be shadowed
    if (assets := studio / "assets").is_dir():
        from manim import config  # not above: errors are described without Manim, too

        config.assets_dir = assets
