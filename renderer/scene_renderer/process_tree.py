"""The processes below this one: who they are, how much memory they hold, and their end."""

import os
import re
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

_KIB = 1024
_RESIDENT = re.compile(rb"^(?:RssAnon|RssShmem):\s+(\d+) kB", re.MULTILINE)
_TRIES = 20
_PAUSE_S = 0.001
_PROPORTIONAL = re.compile(rb"^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)


class HiddenError(Exception):
    """A process that lives and can't be looked at: none does by accident."""


def children(pid: int) -> list[int]:
    """Return the ids of the direct children of a process; none when it has ended."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    return found


def descendants(pid: int) -> Iterator[int]:
    """Yield the ids of all processes below a process, parents before their children."""
    found = children(pid)
    while found:
        yield (child := found.pop())
        found += children(child)


def in_namespace() -> list[int]:
    """Return the ids of all processes that /proc shows, but for the first, which is the job's keeper."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and name != "1"]


def resident_bytes(pids: Iterable[int]) -> dict[int, int]:
    """Return the memory of each process that has any, including pages that it shares with others.

    The keys are ids of threads that live: the first thread of a process, whose id is the process's, can
    have ended, and /proc shows nothing of the process by it then. Raises HiddenError.
    """
    return dict(holder for pid in pids if (holder := _holder(pid)))


def proportional_bytes(resident: dict[int, int]) -> int:
    """Return the memory of some processes in bytes, each shared page divided among its users.

    `resident`: from `resident_bytes`, which is faster. A process that hides its pages counts in full.
    """
    total = 0
    for thread, upper_bound in resident.items():
        share = _read(f"/proc/{thread}/smaps_rollup")
        total += upper_bound if share is None else _sum(_PROPORTIONAL, share)
    return total


def _holder(pid: int) -> tuple[int, int] | None:
    """Return a living thread of a process and the memory that they all hold; None when they hold none."""
    if (status := _read(f"/proc/{pid}/status")) is None:
        return None
    if _RESIDENT.search(status):
        return pid, _sum(_RESIDENT, status)
    for _ in range(_TRIES):
        threads = _numbers_in(f"/proc/{pid}/task")
        states = {thread: _read(f"/proc/{pid}/task/{thread}/status") for thread in threads}
        for thread, state in states.items():
            if state is not None and _RESIDENT.search(state):
                return thread, _sum(_RESIDENT, state)
        if None not in states.values():
            return None
    raise HiddenError(f"the threads of process {pid} can't be looked at")


def _numbers_in(folder: str) -> list[int]:
    with suppress(FileNotFoundError, ProcessLookupError):
        return [int(name) for name in os.listdir(folder)]
    return []


def _sum(pattern: re.Pattern[bytes], text: bytes) -> int:
    return sum(map(int, pattern.findall(text))) * _KIB


def _read(path: str) -> bytes | None:
    """Return what a file says; None when what it is about has ended or hides."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def kill_children() -> None:
    """Kill and reap every process below this one; orphans it adopts meanwhile included.

    All are stopped first: otherwise a process that forks without end takes each place that becomes free. And
    again, until none is left: the kernel lets a stopped process go on when its group has lost its parents.
    """
    while _reap():
        stopped: set[int] = set()
        while fresh := set(descendants(os.getpid())) - stopped:
            _signal(fresh, signal.SIGSTOP)
            stopped |= fresh
        _signal(stopped, signal.SIGKILL)
        time.sleep(_PAUSE_S)


def _reap() -> bool:
    """Reap the children that have ended; return whether there are others."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
