"""The processes below this one: who they are, how much memory they hold, and their end."""

import os
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress

_KIB = 1024
_RESIDENT = re.compile(rb"^(?:RssAnon|RssShmem):\s+(\d+) kB", re.MULTILINE)
_PROPORTIONAL = re.compile(rb"^(?:Pss_Anon|Pss_Shmem):\s+(\d+) kB", re.MULTILINE)


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
    for child in children(pid):
        yield child
        yield from descendants(child)


def in_namespace() -> list[int]:
    """Return the ids of all processes that /proc shows, but for the first, which is the job's keeper."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and name != "1"]


def resident_bytes(pids: list[int]) -> int:
    """Return an upper bound of the memory of some processes: pages they share count several times."""
    return sum(_sum(f"/proc/{pid}/status", _RESIDENT) or 0 for pid in pids)


def proportional_bytes(pids: list[int]) -> int:
    """Return the memory of some processes in bytes, each shared page divided among its users.

    Slower than `resident_bytes`. A process that hides its pages counts in full.
    """
    total = 0
    for pid in pids:
        share = _sum(f"/proc/{pid}/smaps_rollup", _PROPORTIONAL)
        total += resident_bytes([pid]) if share is None else share
    return total


def _sum(path: str, pattern: re.Pattern[bytes]) -> int | None:
    try:
        with open(path, "rb") as file:
            return sum(map(int, pattern.findall(file.read()))) * _KIB
    except OSError:
        return None


def kill_children() -> None:
    """Kill and reap every process below this one; orphans it adopts meanwhile included.

    All are stopped first: otherwise a process that forks without end takes each place that becomes free.
    """
    stopped: set[int] = set()
    while fresh := set(descendants(os.getpid())) - stopped:
        _signal(fresh, signal.SIGSTOP)
        stopped |= fresh
    while True:
        _signal(children(os.getpid()), signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
