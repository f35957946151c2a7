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
# A job whose processes and files take long to count is counted less often.
_REST = 10
_REPORT_BYTES_MAX = 4096


@dataclass(frozen=True)
class Findings:
    """The most memory that a job has used, in bytes, and the limit that it was ended for, if any."""

    reason: str | None = None
    peak_bytes: int = 0

    @staticmethod
    def read(descriptor: int) -> "Findings":
        """Read what `write` has left; an empty one when the watch has ended before it could."""
        with suppress(BlockingIOError):
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
    ended = select.poll()
    ended.register(os.pidfd_open(job), select.POLLIN)
    rest_s = _INTERVAL_S
    while not ended.poll(rest_s * 1000):
        started = time.monotonic()
        pids = process_tree.in_namespace() if isolated else list(process_tree.descendants(os.getpid()))
        in_files = mounts.memory_bytes() if isolated else 0
        used = in_files + process_tree.resident_bytes(pids)
        if used > fork.memory_bytes:
            used = in_files + process_tree.proportional_bytes(pids)
        peak_bytes = max(peak_bytes, used)
        if used > fork.memory_bytes:
            return Findings("memory", peak_bytes)
        if reason := _too_much(fork, pids):
            return Findings(reason, peak_bytes)
        rest_s = max(_INTERVAL_S, _REST * (time.monotonic() - started))
    return Findings(None, peak_bytes)


def _too_much(fork: Fork, pids: list[int]) -> str | None:
    """Return the limit for files that a job is beyond."""
    try:
        size, files = disk_use.measure(fork.folder, pids, fork.files)
    except disk_use.UnreadableError:
        return "files"
    if files > fork.files:
        return "files"
    return "disk" if size > fork.disk_bytes else None
