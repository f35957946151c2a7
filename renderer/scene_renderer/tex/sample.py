"""Sets and converts ``characters.tex``, whose outlines are thus known before the first job.

Its further pages are the expressions of `known`. A sample of `prepared` is used instead, if there is
one.

It doesn't import Manim; LaTeX, or the search for its files, runs while Manim is imported.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import formats, known, prepared
from .formats import Formats
from .prepared import Prepared

_DOCUMENT = Path(__file__).parent / "characters.tex"
# Not files of the installation: the document, what it writes, and the null device.
_NOT_SOUGHT = frozenset({_DOCUMENT.name, f"{_DOCUMENT.stem}.aux", "null"})
_PATHS, _LISTS = "paths", "lists"


@dataclass(frozen=True)
class Sample:
    """The document as source, as DVI file, and its first page as dvisvgm has converted it."""

    source: str
    data: bytes
    svg: str
    names: frozenset[str]
    """Names of the files that LaTeX has read."""
    formats: Formats | None = None
    """Formats that LaTeX loads faster than its own."""


class Conversion:
    """The conversion of the document in the background, or the comparison of one that was prepared."""

    def __init__(self) -> None:
        # The cache of fonts is where a zygote may write.
        place = os.environ.get("XDG_CACHE_HOME")
        if place is not None:
            os.makedirs(place, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(dir=place))
        self._source = _DOCUMENT.read_text(encoding="utf-8")
        self._document = known.document(self._source)
        self._prepared = prepared.find(self._document, _preamble_of(self._source))
        self._process = self._set() if self._prepared is None else self._start(_look_up(self._prepared.names))

    def result(self) -> Sample | None:
        """Wait for it; None if there is no TeX."""
        try:
            if self._prepared is not None:
                if self._process.wait() == 0 and self._contents() == self._prepared.contents:
                    return self._sample_prepared(self._prepared)
                self._process = self._set()  # TeX has been changed since then.
            return self._sample_set()
        except OSError:
            return None
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def prepare(self) -> None:
        """Set the document, and keep the result for the zygotes that start later, if there is TeX."""
        self._process.wait()
        self._process = self._set()
        try:
            sample = self._sample_set()
            if sample is not None and sample.formats is not None:
                paths, _ = self._found()
                prepared.prepare(self._document, sample.data, sample.svg, paths, sample.formats)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["sh", "-c", command],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _set(self) -> subprocess.Popen[bytes]:
        (self._folder / _DOCUMENT.name).write_text(self._document, encoding="utf-8")
        latex = f"latex -interaction=batchmode -halt-on-error -recorder {_DOCUMENT.name}"
        dvisvgm = (
            f"dvisvgm --no-fonts --verbosity=0 --page=1 --output={_DOCUMENT.stem}.svg {_DOCUMENT.stem}.dvi"
        )
        return self._start(f"{latex} && {dvisvgm}")

    def _sample_set(self) -> Sample | None:
        if self._process.wait() != 0:
            return None
        made = self._folder / _DOCUMENT.stem
        names = known.names_in_record(made.with_suffix(".fls").read_text(encoding="utf-8"))
        if self._start(_look_up(names)).wait() != 0:
            return None
        installation = self._installation()
        made_formats = formats.provide(_preamble_of(self._source), installation, names)
        svg = made.with_suffix(".svg").read_text(encoding="utf-8")
        return Sample(self._source, made.with_suffix(".dvi").read_bytes(), svg, names, made_formats)

    def _sample_prepared(self, prepared: Prepared) -> Sample:
        return Sample(self._source, prepared.data, prepared.svg, prepared.names, prepared.formats)

    def _found(self) -> tuple[list[str], list[str]]:
        """Return the paths of the files that LaTeX has read, and of TeX's lists of files."""
        paths, lists = (self._folder / name for name in (_PATHS, _LISTS))
        return paths.read_text(encoding="utf-8").splitlines(), lists.read_text(encoding="utf-8").splitlines()

    def _contents(self) -> str:
        return prepared.contents_of(self._found()[0])

    def _installation(self) -> str:
        paths, lists = self._found()
        return _checksum([*paths, *lists])


def _look_up(names: frozenset[str]) -> str:
    """Return the command that finds files of these names as LaTeX does, and TeX's lists of files."""
    sought = " ".join(shlex.quote(name) for name in sorted(names - _NOT_SOUGHT))
    found = f"kpsewhich -progname=latex -engine=pdftex {sought} >{_PATHS}"
    return f"{found}; kpsewhich -all ls-R >{_LISTS}"


def _preamble_of(document: str) -> str:
    """Return the document's own preamble, which is Manim's, without its comment and its definitions."""
    return document[document.index("\\documentclass") : document.index("\\newcommand")]


def _checksum(paths: list[str]) -> str:
    found = []
    for path in sorted(set(paths)):
        status = os.stat(path)
        found.append(f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()
