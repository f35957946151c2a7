"""Watches the total memory and disk usage of a running job.

The kernel limits each process and each file (`limits.py`), in namespaces also the total size of a job's files
(`mounts.py`), and with a control group its total memory. Only this watch enforces the other limits. It runs
outside of the sandbox, where the scene can't reach it.

Memory of the kernel isn't counted, except the buffers of sockets: these are the largest that descriptors can
hold. Each socket counts as if its buffer was full.

The loop that counts memory does nothing that a scene could slow down: without namespaces, a separate thread
counts files (`disk_watch.py`).
"""

import json
import os
import select
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from ..messages import ForkCommand, JobEndReason
from . import mounts, process_tree
from .disk_watch import DiskWatch

FINISHED = b"."
_INTERVAL_S = 0.2
_REPORT_BYTES_MAX = 4096


@dataclass(frozen=True)
class Findings:
    """The limit that a job has exceeded, if any, and the most memory that it was seen to use.

    The reason is ``disk_full`` if the disk was full when the job's outputs were exported. `finished`: it has
    nothing more to do and is being killed, which takes some time. `problem`: what kept it from reading its
    job, or that its init was killed.
    """

    reason: JobEndReason | None = None
    memory_bytes: int | None = None
    finished: bool = False
    problem: str | None = None

    @staticmethod
    def read(descriptor: int) -> "Findings | None":
        """Read the last findings written by `write`; None if there are none."""
        with suppress(BlockingIOError, ValueError, TypeError):
            if lines := os.read(descriptor, _REPORT_BYTES_MAX).splitlines():
                return Findings(**json.loads(lines[-1]))
        return None

    def write(self, descriptor: int) -> None:
        """Write the findings to a pipe; later ones replace them."""
        os.write(descriptor, json.dumps(vars(self)).encode() + b"\n")


def watch(job: int, fork: ForkCommand, finished: int, *, isolated: bool) -> Findings:
    """Return when process `job` has ended or finished, or the job has exceeded a limit.

    `finished`: a pipe to which an isolated job writes `FINISHED` when it has finished; `isolated`: the job
    has its own process-id namespace and file system, which this process can see.
    """
    ended = select.poll()
    ended.register(os.pidfd_open(job), select.POLLIN)
    return _watch_isolated(ended, fork, finished) if isolated else _watch_exposed(ended, fork)


def _watch_isolated(ended: select.poll, fork: ForkCommand, finished: int) -> Findings:
    """Count files as memory, by the statistics of their file system, whether mapped or not."""
    memory = _MemoryWatch(fork.memory_bytes, _in_namespace, shared=False)
    ended.register(finished, select.POLLIN)
    while True:
        over = dict(ended.poll(_INTERVAL_S * 1000))
        if finished in over and os.read(finished, len(FINISHED) + 1) != FINISHED:
            ended.unregister(finished)  # closed, or the scene wrote to it
            continue
        files = mounts.used()
        # A scene that ran out of space fails for that reason, whatever it reports.
        if over or files.reason:
            return Findings(files.reason, memory.peak_bytes, finished=finished in over and not files.reason)
        if memory.is_exceeded(process_tree.in_namespace(), files.size_bytes):
            return Findings("memory", memory.peak_bytes)


def _watch_exposed(ended: select.poll, fork: ForkCommand) -> Findings:
    memory = _MemoryWatch(fork.memory_bytes, process_tree.sockets, shared=True)
    disk = DiskWatch(fork)
    disk.start()
    while not ended.poll(_INTERVAL_S * 1000):
        pids = list(process_tree.descendants(os.getpid()))
        if memory.is_exceeded(pids, 0):
            return Findings("memory", memory.peak_bytes)
        disk.note_written(pids)
        if disk.reason:
            return Findings(disk.reason, memory.peak_bytes)
    return Findings(memory_bytes=memory.peak_bytes)


def _in_namespace(_: Iterable[int]) -> int:
    """Return the number of sockets in the job's network namespace, also of processes that are ending."""
    with open("/proc/1/net/sockstat") as file:
        return int(file.readline().removeprefix("sockets: used "))


def _socket_bytes() -> int:
    """Return the most memory that the buffer of a socket takes."""
    one, other = socket.socketpair()
    with one, other:
        # The kernel takes another message of up to half of the buffer if the buffer is not full yet.
        return one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) * 3 // 2


class _MemoryWatch:
    """Adds up the memory of processes and their sockets.

    `sockets`: counts the sockets of living threads; `shared`: include mapped files in shared memory.
    """

    def __init__(self, limit_bytes: int, sockets: Callable[[Iterable[int]], int], *, shared: bool) -> None:
        self._limit_bytes = limit_bytes
        self._sockets = sockets
        self._socket_bytes = _socket_bytes()
        self._shared = shared
        self.peak_bytes: int | None = None

    def is_exceeded(self, pids: list[int], in_files_bytes: int) -> bool:
        try:
            held = process_tree.held_memory(pids, shared=self._shared)
            besides_bytes = in_files_bytes + self._sockets(held) * self._socket_bytes
        except process_tree.HiddenError:
            return True
        used = besides_bytes + sum(memory.total_bytes for memory in held.values())
        if used > self._limit_bytes:
            used = besides_bytes + process_tree.proportional_bytes(held, shared=self._shared)
        if held:  # not of a process that is exiting
            self.peak_bytes = max(used, self.peak_bytes or 0)
        return used > self._limit_bytes
