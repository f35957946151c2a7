"""The processes below this one: who they are, how much memory they hold, and their end."""

import os
import re
import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

_KIB = 1024
_TRIES = 20
_PAUSE_S = 0.001
# Pages, in memory or swapped out; those that several processes share may count once for each.
_PAGES = re.compile(rb"^(?:RssAnon|VmSwap):\s+(\d+) kB", re.MULTILINE)
_PROPORTIONAL = re.compile(rb"^(?:Pss_Anon|SwapPss):\s+(\d+) kB", re.MULTILINE)
# The same, of files in memory.
_SHARED = re.compile(rb"^RssShmem:\s+(\d+) kB", re.MULTILINE)
_SHARED_PROPORTIONAL = re.compile(rb"^Pss_Shmem:\s+(\d+) kB", re.MULTILINE)
# Where the pages are, which takes more than the pages do when they are far apart.
_PAGE_TABLES = re.compile(rb"^VmPTE:\s+(\d+) kB", re.MULTILINE)
_WRITTEN = re.compile(rb"^(?:wchar|write_bytes): (\d+)$", re.MULTILINE)
# To divide shared pages among their users, the kernel looks at each of them.
_DIVIDING_S = 5.0


@dataclass(frozen=True)
class Memory:
    """What a process holds: pages, some of which it may share with others, and page tables of its own."""

    pages_bytes: int
    page_tables_bytes: int

    @property
    def total_bytes(self) -> int:
        """Return both together."""
        return self.pages_bytes + self.page_tables_bytes


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
    """Return the ids of all processes that /proc shows, newest first, without the job's keeper.

    The newest may be about to end: a scene can pass its memory on from process to process, each of which
    lives for less than a millisecond, and have many old ones be looked at meanwhile.
    """
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal() and name != "1")
    return sorted(pids, reverse=True)


def held_memory(pids: Iterable[int], *, shared: bool) -> dict[int, Memory]:
    """Return the memory of each process that has any; pages that it shares with others count in full.

    The keys are ids of threads that live: the first thread of a process, whose id is the process's, can
    have ended, and /proc shows nothing of the process by it then. `shared`: with what it maps of files in
    memory. Raises HiddenError.
    """
    return dict(holder for pid in pids if (holder := _holder(pid, shared)))


def proportional_bytes(held: Mapping[int, Memory], *, shared: bool) -> int:
    """Return the memory of some processes in bytes, each shared page divided among its users.

    `held`: from `held_memory`, which is faster. Processes that hide their pages, or whose pages take too
    long to be divided, count in full.
    """
    total = 0
    deadline = time.monotonic() + _DIVIDING_S
    for thread, memory in held.items():
        share = _read(f"/proc/{thread}/smaps_rollup") if time.monotonic() < deadline else None
        if share is None:
            total += memory.total_bytes
            continue
        total += memory.page_tables_bytes + _sum(_PROPORTIONAL, share)
        if shared:
            total += _sum(_SHARED_PROPORTIONAL, share)
    return total


def written_bytes(pid: int) -> int | None:
    """Return how much a process and the children that it has waited for have written; None if it hides that.

    To files of disks as much as they have made dirty, also by mappings; else what they have passed to the
    kernel, whichever is more.
    """
    text = _read(f"/proc/{pid}/io")
    return None if text is None else max(map(int, _WRITTEN.findall(text)), default=None)


def _holder(pid: int, shared: bool) -> tuple[int, Memory] | None:
    """Return a living thread of a process and the memory that they all hold; None when they hold none."""
    if (status := _read(f"/proc/{pid}/status")) is None:
        return None
    if _PAGES.search(status):
        return pid, _memory(status, shared)
    for _ in range(_TRIES):
        threads = _numbers_in(f"/proc/{pid}/task")
        states = {thread: _read(f"/proc/{pid}/task/{thread}/status") for thread in threads}
        for thread, state in states.items():
            if state is not None and _PAGES.search(state):
                return thread, _memory(state, shared)
        if None not in states.values():
            return None
    raise HiddenError(f"the threads of process {pid} can't be looked at")


def _memory(status: bytes, shared: bool) -> Memory:
    pages = _sum(_PAGES, status) + (_sum(_SHARED, status) if shared else 0)
    return Memory(pages, _sum(_PAGE_TABLES, status))


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
