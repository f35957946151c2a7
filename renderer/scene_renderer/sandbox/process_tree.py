"""The descendants of this process: their ids, memory usage and termination."""

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
# Anonymous pages, resident or swapped out; shared pages count once for each process.
_PAGES = re.compile(rb"^(?:RssAnon|VmSwap):\s+(\d+) kB", re.MULTILINE)
_PROPORTIONAL = re.compile(rb"^(?:Pss_Anon|SwapPss):\s+(\d+) kB", re.MULTILINE)
# The same for files in shared memory.
_SHARED = re.compile(rb"^RssShmem:\s+(\d+) kB", re.MULTILINE)
_SHARED_PROPORTIONAL = re.compile(rb"^Pss_Shmem:\s+(\d+) kB", re.MULTILINE)
# Page tables, which can be larger than the pages if these are far apart.
_PAGE_TABLES = re.compile(rb"^VmPTE:\s+(\d+) kB", re.MULTILINE)
_WRITTEN = re.compile(rb"^(?:wchar|write_bytes): (\d+)$", re.MULTILINE)
# Proportional sizes are slow: the kernel examines each page.
_DIVIDING_S = 5.0


@dataclass(frozen=True)
class Memory:
    """The memory of a process: pages, some of which may be shared, and its own page tables."""

    pages_bytes: int
    page_tables_bytes: int

    @property
    def total_bytes(self) -> int:
        """Return the sum of pages and page tables."""
        return self.pages_bytes + self.page_tables_bytes


class HiddenError(Exception):
    """A living process can't be examined. Only a scene that hides it can cause this."""


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


def count_threads(pid: int) -> int:
    """Return the number of threads of all processes below a process."""
    return sum(len(_numbers_in(f"/proc/{child}/task")) for child in descendants(pid))


def in_namespace() -> list[int]:
    """Return the ids of all processes in /proc except init, newest first.

    A scene can pass its memory on through processes that each live for less than a millisecond.
    The newest come first, so that many old processes can't delay their examination.
    """
    pids = (int(name) for name in os.listdir("/proc") if name.isdecimal() and name != "1")
    return sorted(pids, reverse=True)


def held_memory(pids: Iterable[int], *, shared: bool) -> dict[int, Memory]:
    """Return the memory of each process that has any; shared pages count in full.

    The keys are ids of living threads: if the first thread of a process, whose id is the process's, has
    ended, /proc shows no memory under it. `shared`: includes mapped files in shared memory. Raises
    HiddenError.
    """
    return dict(holder for pid in pids if (holder := _holder(pid, shared)))


def proportional_bytes(held: Mapping[int, Memory], *, shared: bool) -> int:
    """Return the memory of processes in bytes, with each shared page divided among its users.

    `held`: from `held_memory`, which is faster. Processes whose pages can't be read, or not within the time
    limit, count in full.
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


def sockets(threads: Iterable[int]) -> int:
    """Return the number of sockets that processes have open, shared ones once; `threads`: one of each.

    Raises HiddenError.
    """
    found = set()
    for thread in threads:
        folder = f"/proc/{thread}/fd"
        try:
            for name in os.listdir(folder):
                with suppress(FileNotFoundError):  # closed meanwhile
                    found.add(os.readlink(f"{folder}/{name}"))
        except PermissionError as error:
            raise HiddenError(f"the files of process {thread} can't be inspected") from error
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    return sum(link.startswith("socket:") for link in found)


def written_bytes(pid: int) -> int | None:
    """Return the bytes written by a process and its reaped children; None if that can't be read.

    The larger of the bytes made dirty on disks, including mappings, and the bytes passed to write calls.
    """
    text = _read(f"/proc/{pid}/io")
    return None if text is None else max(map(int, _WRITTEN.findall(text)), default=None)


def _holder(pid: int, shared: bool) -> tuple[int, Memory] | None:
    """Return a living thread of a process and the memory of the process; None if it has none."""
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
    raise HiddenError(f"the threads of process {pid} can't be inspected")


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
    """Return the content of a file; None if the process has ended or can't be examined."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def kill_children() -> None:
    """Kill and reap all descendants of this process, including orphans that it adopts meanwhile.

    Stops all of them first: otherwise a fork bomb replaces each killed process. Repeats until none is left:
    the kernel continues stopped processes when their process group becomes orphaned.
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
