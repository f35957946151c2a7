"""The watch over a job's files on a disk that it shares with others, in a thread of its own.

What a job takes of the disk is at most what it has written in all. Only when that is beyond the limit
does it matter what is still there.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Sequence

from . import disk_use, process_tree
from .disk_use import Pass
from .protocol import Fork

_INTERVAL_S = 0.2
# How many passes in a row may have been incomplete before one of them is forgotten. A file that moves about
# has to be missed by all of them to be overlooked.
_REMEMBERED = 8
# A look that takes longer than this, of a job that has written more than it may keep, is being held up.
_LOOK_S = 15.0


class DiskWatch:
    """Looks again and again; `reason` says which limit the job is found to be beyond."""

    def __init__(self, fork: Fork) -> None:
        self._fork = fork
        self._ignored = disk_use.mapped_by_this_process(fork.folder)
        # By process id: by those that had it before, and by the one that has it.
        self._written = dict[int, tuple[int, int]]()
        self._found: str | None = None
        self._looked_at = time.monotonic()

    def start(self) -> None:
        """Begin. The thread ends with the process."""
        # The first look can come to its end while memory is still being counted.
        self.note_written(list(process_tree.descendants(os.getpid())))
        threading.Thread(target=self._run, name="disk watch", daemon=True).start()

    def note_written(self, pids: list[int]) -> None:
        """Remember how much the processes have written so far: those that end are asked no more."""
        for pid in (os.getpid(), *pids):
            if (written := process_tree.written_bytes(pid)) is None:
                continue
            earlier, latest = self._written.get(pid, (0, 0))
            if written < latest:  # another process has the id now
                earlier += latest
            self._written[pid] = (earlier, written)

    @property
    def reason(self) -> str | None:
        """``disk`` or ``files``, or None while the job is within its limits."""
        late = time.monotonic() - self._looked_at > _LOOK_S
        if late and self._written_bytes() > self._fork.disk_bytes:
            return "disk"
        return self._found

    def _run(self) -> None:
        recent = deque[Pass](maxlen=_REMEMBERED)
        while self._found is None:
            started = time.monotonic()
            try:
                pids = list(process_tree.descendants(os.getpid()))
                latest = disk_use.look(self._fork.folder, pids, self._ignored, self._fork.files)
            except disk_use.UnreadableError:
                self._found = "files"
                return
            except OSError:  # the folder is gone: the job is over
                return
            if recent and recent[-1].is_complete_before(latest):
                recent.clear()
            recent.append(latest)
            self._found = self._limit_of(recent)
            self._looked_at = time.monotonic()
            time.sleep(max(_INTERVAL_S, self._looked_at - started))

    def _limit_of(self, recent: Sequence[Pass]) -> str | None:
        sizes = dict[int, int]()
        for seen in recent:
            for inode, size_bytes in seen.sizes.items():
                sizes[inode] = max(size_bytes, sizes.get(inode, 0))
        if len(sizes) > self._fork.files:
            return "files"
        size_bytes = sum(sizes.values()) + self._unknown_bytes(recent[-1])
        return "disk" if size_bytes > self._fork.disk_bytes else None

    def _unknown_bytes(self, latest: Pass) -> int:
        """Return the most that files can take whose sizes nothing tells."""
        if latest.is_vague:
            return self._written_bytes()
        if not latest.mapped:
            return 0
        return min(len(latest.mapped) * self._fork.file_size_bytes, self._written_bytes())

    def _written_bytes(self) -> int:
        # Without an account of what is written, any limit may have been reached.
        written = list(self._written.values())
        return sum(map(sum, written)) if written else self._fork.disk_bytes + 1
