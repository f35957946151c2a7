"""Whether LaTeX would read the same files in this job: equal variables, and no files of the job's own."""

import os
from collections.abc import Iterator
from pathlib import Path

# LaTeX looks for optional files and fonts of these names; its record of files does not list missing ones.
_OPTIONAL = (".cfg", ".fd")
_NOT_OF_TEX = frozenset({"manim.cfg", "setup.cfg"})
_HOME_TREES = ("texmf", ".texlive", ".texmf")
_FILES_MAX = 20_000


class Surroundings:
    """What LaTeX finds besides its installation: variables, the current folder and the studio's TeX files."""

    def __init__(self) -> None:
        """Remember the environment and the current folder as they are before a scene runs."""
        self._environment = dict(os.environ)
        self._folder = os.getcwd()
        self._studio: frozenset[str] | None = None
        self._found: frozenset[str] = frozenset()
        self._looked_at: tuple[int, ...] = ()

    def fit(self, names: frozenset[str]) -> bool:
        """Whether LaTeX would still find its installation's files under these names."""
        try:
            if os.getcwd() != self._folder or os.environ != self._environment:
                return False
            found = self._names()
        except OSError:
            return False
        return found.isdisjoint(names) and not any(
            (name.endswith(_OPTIONAL) and name not in _NOT_OF_TEX) or name.startswith(_HOME_TREES)
            for name in found
        )

    def _names(self) -> frozenset[str]:
        """Return the names of files in the current folder and in the studio's tree."""
        if self._studio is None:
            place = self._environment.get("TEXMFHOME")
            self._studio = frozenset(_files_below(Path(place))) if place else frozenset()
        status = os.stat(self._folder)
        looked_at = (status.st_dev, status.st_ino, status.st_mtime_ns)
        if looked_at != self._looked_at:
            self._found = self._studio.union(os.listdir(self._folder))
            self._looked_at = looked_at
        return self._found


def _files_below(folder: Path) -> Iterator[str]:
    count = 0
    for _, _, names in os.walk(folder):
        yield from names
        count += len(names)
        if count > _FILES_MAX:
            raise OSError("too many files in the studio's TeX tree to compare them")
