"""A job without scene code that compiles expressions which scenes of an owner have asked for, and keeps them.

It reads the owner's pack, if there is one, and writes another with the new expressions. Nothing that a scene
has made gets into it: only the sources are given, and each is compiled from nothing.
"""

import resource
import subprocess
import time
from pathlib import Path

from . import studio, tex, tex_known
from .messages import TexJob
from .tex_pack import NAME, Kept, key_of, packed
from .tex_server import BEGIN

NEW_NAME = f"{NAME}.new"
_FOLDER = Path("tex")
_SECONDS_MAX = 10.0
# Of each LaTeX: an expression may keep it busy for ever.
_CPU_SECONDS_MAX = 5
# Files of the compilation itself.
_OWN = frozenset({"preamble.tex", "preamble.aux"})


def fill(job: TexJob) -> None:
    """Write the new pack into the current folder, unless there is nothing to add to the old one."""
    studio.open_to_scenes()
    tex.begin_job()
    _FOLDER.mkdir()
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS_MAX, _CPU_SECONDS_MAX))
    deadline = time.monotonic() + _SECONDS_MAX
    old = tex.kept()
    entries = dict(old)
    records: dict[str, frozenset[str] | None] = {}
    for number, source in enumerate(job.documents):
        if time.monotonic() > deadline:
            break
        key = key_of(source)
        if key in entries or not tex.is_repeatable(source):
            continue
        preamble = source.partition(BEGIN)[0]
        if preamble not in records:
            records[preamble] = _names_read(preamble)
        names = records[preamble]
        if names is None:
            continue
        compiled = tex.compile_freshly(source, _FOLDER / f"{number}.tex")
        if compiled is not None and tex.is_set_alike(names | compiled.names):
            entries[key] = Kept.of(compiled.svg, names | compiled.names)
    if len(entries) > len(old):
        Path(NEW_NAME).write_bytes(packed(entries, tex.installation()))


def _names_read(preamble: str) -> frozenset[str] | None:
    """Return the names of the files that a preamble reads; None if it can't be compiled."""
    source = _FOLDER / "preamble.tex"
    source.write_text(f"{preamble}{BEGIN}x\\end{{document}}\n", encoding="utf-8")
    command = [
        "latex",
        "-interaction=batchmode",
        "-halt-on-error",
        "-recorder",
        f"-output-directory={_FOLDER}",
    ]
    done = subprocess.run([*command, str(source)], stdout=subprocess.DEVNULL, check=False)
    try:
        record = source.with_suffix(".fls").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return tex_known.names_in_record(record) - _OWN if done.returncode == 0 else None
