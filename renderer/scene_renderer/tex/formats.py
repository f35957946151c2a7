"""Formats of LaTeX that it loads faster than its own: not compressed, and one has read Manim's preamble.

A zygote makes them in a folder that jobs can only read. Another one with the same installation of TeX finds
them there.
"""

import gzip
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

_FOLDER = "tex-formats"
_PREAMBLE, _PLAIN = "preamble.fmt", "latex.fmt"


def readable() -> list[str]:
    """Return the folder of the formats, which is made if it isn't there; none if it can't be."""
    place = os.environ.get("XDG_CACHE_HOME")
    if place is None:
        return []
    folder = Path(place, _FOLDER)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return []
    return [str(folder)]


@dataclass(frozen=True)
class Formats:
    """The files of one installation, as long as they are there."""

    folder: Path
    preamble: str
    """Preamble that the format has read."""
    names: frozenset[str]
    """Names of the files that LaTeX has read with it."""

    def find(self, preamble: str) -> tuple[Path, str] | None:
        """Return the format for a preamble, and what it has not yet read of the preamble."""
        if preamble.startswith(self.preamble):
            name, rest = _PREAMBLE, preamble.removeprefix(self.preamble)
        else:
            name, rest = _PLAIN, preamble
        file = self.folder / name
        return (file, rest) if file.exists() else None


def provide(preamble: str, installation: str, names: frozenset[str]) -> Formats | None:
    """Make the formats unless they are there; None if they can't be made.

    `installation`: checksum of the installation; `names`: of the files that the preamble reads.
    """
    for place in map(Path, readable()):
        folder = place / installation
        if folder.is_dir():
            return Formats(folder, preamble, names)
        made = Path(mkdtemp(dir=place))
        try:
            _make(made, preamble)
            made.chmod(0o755)
            made.rename(folder)
        except (OSError, EOFError, subprocess.CalledProcessError):
            shutil.rmtree(made, ignore_errors=True)
        if folder.is_dir():
            _remove_others(place, folder)
            return Formats(folder, preamble, names)
    return None


def _make(folder: Path, preamble: str) -> None:
    source = folder / "preamble.tex"
    source.write_text(f"{preamble}\\dump\n", encoding="utf-8")
    _run(folder, "-ini", "-halt-on-error", "&latex", source.name)
    found = subprocess.run(
        ["kpsewhich", "-progname=latex", "-engine=pdftex", "latex.fmt"],
        check=True,
        capture_output=True,
        text=True,
    )
    for packed, name in ((folder / _PREAMBLE, _PREAMBLE), (Path(found.stdout.strip()), _PLAIN)):
        data = packed.read_bytes()
        (folder / name).write_bytes(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
    source.write_text("\\csname @@end\\endcsname\n", encoding="utf-8")
    for name in (_PREAMBLE, _PLAIN):  # each can be loaded
        _run(folder, "-halt-on-error", f"-fmt={folder / name}", source.name)
    for left in folder.glob(f"{source.stem}.*"):
        if left.name != _PREAMBLE:
            left.unlink()


def _run(folder: Path, *options: str) -> None:
    subprocess.run(
        ["latex", "-interaction=batchmode", *options],
        cwd=folder,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def _remove_others(place: Path, kept: Path) -> None:
    """Remove the formats of earlier installations. Who still uses them does without."""
    for folder in place.iterdir():
        if folder != kept and len(folder.name) == len(kept.name):
            shutil.rmtree(folder, ignore_errors=True)
