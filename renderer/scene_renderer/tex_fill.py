"""A job without scene code that compiles expressions which scenes of an owner have asked for, and keeps them.

It reads the owner's pack, if there is one, and writes another with the new expressions. Nothing that a scene
has made gets into it: only the sources are given, and each is compiled from nothing. No document may change
how another one is set: only those of `tex_grammar` are compiled, in a folder for each preamble, and nothing
is kept if one of them has left a file that LaTeX could find.
"""

import os
import re
import resource
import subprocess
import time
from pathlib import Path

from . import studio, tex, tex_known
from .messages import TexJob
from .tex_grammar import is_repeatable
from .tex_pack import NAME, Kept, key_of, packed
from .tex_server import BEGIN

NEW_NAME = f"{NAME}.new"
_SECONDS_MAX = 10.0
# Of each LaTeX: an expression may keep it busy forever.
_CPU_SECONDS_MAX = 5
# Files of the compilation itself.
_OWN = frozenset({"preamble.tex", "preamble.aux"})
_EXPECTED = re.compile(r"(?:preamble|served-\d+(?:-body|-formula)?|\d+)\.(?:tex|dvi|log|aux|fls|svg)")


def fill(job: TexJob) -> None:
    """Write the new pack into the current folder, unless there is nothing to add to the old one."""
    studio.open_to_scenes()
    tex.begin_job()
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS_MAX, _CPU_SECONDS_MAX))
    deadline = time.monotonic() + _SECONDS_MAX
    old = tex.kept()
    entries = dict(old)
    before = set(os.listdir())
    groups: dict[str, _Group] = {}
    for number, source in enumerate(job.documents):
        if time.monotonic() > deadline:
            break
        key = key_of(source)
        if key in entries or not is_repeatable(source):
            continue
        preamble = source.partition(BEGIN)[0]
        group = groups.get(preamble)
        if group is None:
            group = groups[preamble] = _Group(preamble, Path(f"tex-{len(groups)}"))
        kept = group.compile(source, number)
        if not _are_expected({group.folder.name for group in groups.values()}, before):
            return
        if kept is not None:
            entries[key] = kept
    if len(entries) > len(old):
        Path(NEW_NAME).write_bytes(packed(entries, tex.installation()))


class _Group:
    """The documents with one preamble, in a folder of their own, where LaTeX looks for files first."""

    def __init__(self, preamble: str, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._names = _names_read(preamble, folder)

    def compile(self, source: str, number: int) -> Kept | None:
        """Compile a document; None if it can't be, or if it reads other files than the installation's."""
        if self._names is None:
            return None
        compiled = tex.compile_freshly(source, self.folder / f"{number}.tex")
        if compiled is None:
            return None
        names = self._names | compiled.names
        return Kept.of(compiled.svg, names) if tex.is_deterministic(names) else None


def _are_expected(folders: set[str], before: set[str]) -> bool:
    """Whether there are only files that the compilation itself makes."""
    # Programs keep caches in the home folder, in hidden folders.
    others = {name for name in os.listdir() if not name.startswith(".")} - before
    return others <= folders and all(
        _EXPECTED.fullmatch(name) for folder in folders for name in os.listdir(folder)
    )


def _names_read(preamble: str, folder: Path) -> frozenset[str] | None:
    """Return the names of the files that a preamble reads; None if it can't be compiled."""
    source = folder / "preamble.tex"
    source.write_text(f"{preamble}{BEGIN}x\\end{{document}}\n", encoding="utf-8")
    command = [
        "latex",
        "-interaction=batchmode",
        "-halt-on-error",
        "-recorder",
        f"-output-directory={folder}",
    ]
    done = subprocess.run([*command, str(source)], stdout=subprocess.DEVNULL, check=False)
    try:
        record = source.with_suffix(".fls").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return tex_known.names_in_record(record) - _OWN if done.returncode == 0 else None
