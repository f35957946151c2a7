"""The watch over a running job: what all its processes and files take together.

The kernel limits each process and each file (`limits.py`); nothing but this limits their sum. It
runs beside the job, where the scene can't reach it.
"""

import json
import os
import select
import time
from contextlib import suppress
from dataclasses import dataclass

from . import disk_use, mounts, process_tree
from .protocol import Fork

_INTERVAL_S = 0.2
# How long files may be counted in between.
_COUNTING_S = 0.02
_REPORT_BYTES_MAX = 4096


@dataclass(frozen=True)
class Findings:
    """The most memory that a job has used, in bytes, and the limit that it was ended for, if any."""

    reason: str | None = None
    peak_bytes: int = 0

    @staticmethod
    def read(descriptor: int) -> "Findings":
        """Read what `write` has left; an empty one when the watch has ended before it could."""
        with suppress(BlockingIOError, ValueError, TypeError):
            if text := os.read(descriptor, _REPORT_BYTES_MAX):
                return Findings(**json.loads(text))
        return Findings()

    def write(self, descriptor: int) -> None:
        """Leave them in a pipe."""
        os.write(descriptor, json.dumps(vars(self)).encode())


def watch(job: int, fork: Fork, *, isolated: bool) -> Findings:
    """Return when process `job` has ended or the job has gone beyond a limit.

    `isolated`: the job has a process-id namespace and files in memory to itself, and /proc shows it.
    """
    peak_bytes = 0
    files = _FileWatch(fork)
    ended = select.poll()
    ended.register(os.pidfd_open(job), select.POLLIN)
    while not ended.poll(_INTERVAL_S * 1000):
        pids = process_tree.in_namespace() if isolated else process_tree.descendants(os.getpid())
        try:
            resident = process_tree.resident_bytes(pids)
        except process_tree.HiddenError:
            return Findings("memory", peak_bytes)
        in_files = mounts.memory_bytes() if isolated else 0
        used = in_files + sum(resident.values())
        if used > fork.memory_bytes:
            used = in_files + process_tree.proportional_bytes(resident)
        peak_bytes = max(peak_bytes, used)
        if used > fork.memory_bytes:
            return Findings("memory", peak_bytes)
        if reason := files.look(list(resident)):
            return Findings(reason, peak_bytes)
    return Findings(None, peak_bytes)


class _FileWatch:
    """Counts files piece by piece: it takes long where there are many, and memory doesn't wait for it."""

    def __init__(self, fork: Fork) -> None:
        self._fork = fork
        self._counting: disk_use.Counting | None = None

    def look(self, threads: list[int]) -> str | None:
        """Go on counting for a while; return the limit that the job is found to be beyond."""
        started = time.monotonic()
        self._counting = self._counting or disk_use.measure(self._fork.folder, threads, self._fork.files)
        try:
            while time.monotonic() - started < _COUNTING_S:
                next(self._counting)
        except StopIteration as end:
            self._counting = None
            return self._limit_of(*end.value)
        except disk_use.UnreadableError:
            return "files"
        return None

    def _limit_of(self, size_bytes: int, files: int) -> str | None:
        if files > self._fork.files:
            return "files"
        return "disk" if size_bytes > self._fork.disk_bytes else None
