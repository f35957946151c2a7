"""A thread that watches the disk usage of a job on a shared disk.

The usage of a job is at most the total of its writes. Only if that exceeds the limit does the size of its
existing files matter.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Sequence

from ..messages import ForkCommand, JobEndReason
from . import disk_use, process_tree
from .disk_use import Pass

_INTERVAL_S = 0.2
# Number of consecutive incomplete passes that are kept. A file that is moved around is only overlooked if all
# of them miss it.
_REMEMBERED = 8
# A longer pass over a job whose writes exceed its limit is assumed to be delayed on purpose.
_LOOK_S = 15.0


class DiskWatch:
    """Scans repeatedly; `reason` is the limit that the job exceeds."""

    def __init__(self, fork: ForkCommand) -> None:
        self._fork = fork
        self._ignored = disk_use.mapped_by_this_process(fork.folder)
        # Bytes by process id: of earlier processes with the id, and of the current one.
        self._written = dict[int, tuple[int, int]]()
        self._found: JobEndReason | None = None
        self._looked_at = time.monotonic()

    def start(self) -> None:
        """Start the thread. It ends with the process."""
        # The first pass may finish before the memory loop calls `note_written`.
        self.note_written(list(process_tree.descendants(os.getpid())))
        threading.Thread(target=self._run, name="disk watch", daemon=True).start()

    def note_written(self, pids: list[int]) -> None:
        """Record how much the processes have written: ended processes can't be queried."""
        for pid in (os.getpid(), *pids):
            if (written := process_tree.written_bytes(pid)) is None:
                continue
            earlier, latest = self._written.get(pid, (0, 0))
            if written < latest:  # another process has the id now
                earlier += latest
            self._written[pid] = (earlier, written)

    @property
    def reason(self) -> JobEndReason | None:
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
            except OSError:  # the folder was removed: the job has ended
                return
            if recent and recent[-1].is_complete_before(latest):
                recent.clear()
            recent.append(latest)
            self._found = self._limit_of(recent)
            self._looked_at = time.monotonic()
            time.sleep(max(_INTERVAL_S, self._looked_at - started))

    def _limit_of(self, recent: Sequence[Pass]) -> JobEndReason | None:
        sizes = dict[int, int]()
        for seen in recent:
            for inode, size_bytes in seen.sizes.items():
                sizes[inode] = max(size_bytes, sizes.get(inode, 0))
        if len(sizes) > self._fork.files:
            return "files"
        size_bytes = sum(sizes.values()) + self._unknown_bytes(recent[-1])
        return "disk" if size_bytes > self._fork.disk_bytes else None

    def _unknown_bytes(self, latest: Pass) -> int:
        """Return the maximum size of files whose size is unknown."""
        if latest.is_vague:
            return self._written_bytes()
        if not latest.mapped:
            return 0
        return min(len(latest.mapped) * self._fork.file_size_bytes, self._written_bytes())

    def _written_bytes(self) -> int:
        # Without write statistics, assume that the limit was exceeded.
        written = list(self._written.values())
        return sum(map(sum, written)) if written else self._fork.disk_bytes + 1
