"""Sets and converts ``characters.tex``, whose outlines are thus known before the first job.

Its further pages are the expressions of `tex_known`.

It doesn't import Manim, and LaTeX runs while Manim is imported.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import tex_format, tex_known
from .tex_format import Formats

_DOCUMENT = Path(__file__).parent / "characters.tex"


@dataclass(frozen=True)
class Sample:
    """The document as source, as DVI file, and its first page as dvisvgm has converted it."""

    source: str
    data: bytes
    svg: str
    names: frozenset[str]
    """Of files that LaTeX has read."""
    installation: str
    """A checksum of sizes and times of these files and of TeX's lists of files. Each update changes it."""
    formats: Formats | None = None
    """That LaTeX loads faster."""


class Conversion:
    """The conversion of the document in the background."""

    def __init__(self) -> None:
        # The cache of fonts is where a zygote may write.
        place = os.environ.get("XDG_CACHE_HOME")
        if place is not None:
            os.makedirs(place, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(dir=place))
        characters = _DOCUMENT.read_text(encoding="utf-8")
        (self._folder / _DOCUMENT.name).write_text(tex_known.document(characters), encoding="utf-8")
        latex = f"latex -interaction=batchmode -halt-on-error -recorder {_DOCUMENT.name}"
        dvisvgm = (
            f"dvisvgm --no-fonts --verbosity=0 --page=1 --output={_DOCUMENT.stem}.svg {_DOCUMENT.stem}.dvi"
        )
        self._process = subprocess.Popen(
            ["sh", "-c", f"{latex} && {dvisvgm} && kpsewhich -all ls-R >lists"],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def result(self) -> Sample | None:
        """Wait for it; None if there is no TeX."""
        try:
            if self._process.wait() != 0:
                return None
            made = self._folder / _DOCUMENT.stem
            source = _DOCUMENT.read_text(encoding="utf-8")
            record = made.with_suffix(".fls").read_text(encoding="utf-8")
            lists = (self._folder / "lists").read_text(encoding="utf-8")
            names = tex_known.names_in_record(record)
            installation = _checksum(
                [*re.findall(r"^INPUT (/.*)$", record, re.MULTILINE), *lists.splitlines()]
            )
            return Sample(
                source,
                made.with_suffix(".dvi").read_bytes(),
                made.with_suffix(".svg").read_text(encoding="utf-8"),
                names,
                installation,
                tex_format.provide(_preamble_of(source), installation, names),
            )
        except OSError:
            return None
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


def _preamble_of(document: str) -> str:
    """Return the document's own preamble, which is Manim's, without its comment and its definitions."""
    return document[document.index("\\documentclass") : document.index("\\newcommand")]


def _checksum(paths: list[str]) -> str:
    found = []
    for path in sorted(set(paths)):
        status = os.stat(path)
        found.append(f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()
