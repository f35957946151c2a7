"""The sample of TeX that was set when the renderer was installed, so that zygotes start without LaTeX.

It is in the folder of the Python environment, which no job can write to, and is used as long as LaTeX would
read the same files as then.
"""

import hashlib
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from .formats import Formats

FOLDER = Path(sys.prefix, "share", "scenepress-tex")
_RECORD, _DVI, _SVG = "sample.json", "sample.dvi", "sample.svg"
# It only tells TeX its own folders, and an installation has several files of this name.
_NOT_COMPARED = "texmf.cnf"


@dataclass(frozen=True)
class Prepared:
    """A sample that fits its document."""

    folder: Path
    names: frozenset[str]
    """Names of the files that LaTeX has read."""
    contents: str
    """Checksum of the installation's files with these names."""
    formats: Formats

    @property
    def data(self) -> bytes:
        """The DVI file."""
        return (self.folder / _DVI).read_bytes()

    @property
    def svg(self) -> str:
        """The first page, as dvisvgm has converted it."""
        return (self.folder / _SVG).read_text(encoding="utf-8")


def find(document: str, preamble: str) -> Prepared | None:
    """Return the sample for a document, if it was prepared; `preamble`: the preamble of its format."""
    try:
        record = json.loads((FOLDER / _RECORD).read_text(encoding="utf-8"))
        names = frozenset(record["names"])
        if record["document"] != _checksum(document.encode()):
            return None
        return Prepared(FOLDER, names, record["contents"], Formats(FOLDER, preamble, names))
    except (OSError, ValueError, LookupError):
        return None


def contents_of(paths: list[str]) -> str:
    """Return a checksum of files and their names."""
    found = []
    for path in sorted(paths, key=os.path.basename):
        name = os.path.basename(path)
        if name != _NOT_COMPARED:
            found.append(f"{name} {_checksum(Path(path).read_bytes())}")
    return _checksum("\n".join(found).encode())


def prepare(document: str, data: bytes, svg: str, paths: list[str], formats: Formats) -> None:
    """Keep a sample for zygotes that start later.

    `paths`: of the installation's files that LaTeX has read.
    """
    made = FOLDER.with_name(f"{FOLDER.name}.new")
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(formats.folder, made)
    record = {
        "document": _checksum(document.encode()),
        "names": sorted(formats.names),
        "contents": contents_of(paths),
    }
    (made / _DVI).write_bytes(data)
    (made / _SVG).write_text(svg, encoding="utf-8")
    os.sync()  # The record is written last: if it exists, so do the other files.
    (made / _RECORD).write_text(json.dumps(record), encoding="utf-8")
    shutil.rmtree(FOLDER, ignore_errors=True)
    made.rename(FOLDER)


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
