"""Sets and converts ``characters.tex``, whose outlines are thus known before the first job.

It doesn't import Manim, and LaTeX runs while Manim is imported.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_DOCUMENT = Path(__file__).parent / "characters.tex"


class Conversion:
    """The conversion of the document in the background."""

    def __init__(self) -> None:
        # The cache of fonts is where a zygote may write.
        place = os.environ.get("XDG_CACHE_HOME")
        if place is not None:
            os.makedirs(place, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(dir=place))
        shutil.copy(_DOCUMENT, self._folder)
        latex = f"latex -interaction=batchmode -halt-on-error {_DOCUMENT.name}"
        dvisvgm = f"dvisvgm --no-fonts --verbosity=0 {_DOCUMENT.stem}.dvi"
        self._process = subprocess.Popen(
            ["sh", "-c", f"{latex} && {dvisvgm}"],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def result(self) -> tuple[bytes, str] | None:
        """Wait for it. Return the DVI file and what dvisvgm has made of it; None if there is no TeX."""
        try:
            if self._process.wait() != 0:
                return None
            made = self._folder / _DOCUMENT.stem
            return made.with_suffix(".dvi").read_bytes(), made.with_suffix(".svg").read_text(encoding="utf-8")
        except OSError:
            return None
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
