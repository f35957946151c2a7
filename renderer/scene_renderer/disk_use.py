"""What a job has on disk: the files in its folder, and those it has removed and still holds."""

import os
import re
import stat
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from . import process_tree

_BLOCK_BYTES = 512  # whatever the file system's own
_REMOVED = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .*\(deleted\)$", re.MULTILINE
)
_LEVELS_MAX = 64
_FILES_AT_ONCE = 256
_FOLDER_ITSELF = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TRIES, _PAUSE_S = 20, 0.001
_GONE = (FileNotFoundError, ProcessLookupError)


# Yields now and then, so that whoever counts can do something else meanwhile; returns bytes and files.
Counting = Generator[None, None, tuple[int, int]]


class UnreadableError(Exception):
    """What its own user may not look into, or folders too deep: nobody makes them but to hide something."""


def measure(folder: str, threads: Iterable[int], most_files: int) -> Counting:
    """Count bytes and files, until there are more than `most_files`.

    `threads`: one of each process that may hold removed files. Raises UnreadableError.
    """
    tally = _Tally(most_files)
    device = os.stat(folder).st_dev
    removed = dict[int, int]()
    with suppress(_EnoughError):
        yield from _count(folder, None, tally)
        for thread in threads:
            removed.update(_removed(thread, device))
            yield
        for size in removed.values():
            tally.add(size)
    return tally.size_bytes, tally.files


class _EnoughError(Exception): ...


@dataclass
class _Tally:
    most_files: int
    size_bytes: int = 0
    files: int = 0

    def add(self, size_bytes: int) -> None:
        self.size_bytes += size_bytes
        self.files += 1
        if self.files > self.most_files:
            raise _EnoughError


def _count(name: str, parent: int | None, tally: _Tally, level: int = 1) -> Iterator[None]:
    """Count what is in a folder, by descriptors: a path takes the longer to follow the deeper it leads."""
    if level > _LEVELS_MAX:
        raise UnreadableError
    try:
        folder = os.open(name, _FOLDER_ITSELF, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return  # removed or replaced meanwhile
    except OSError as error:
        raise UnreadableError from error
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if (status := _status(entry)) is None:
                    continue
                tally.add(status.st_blocks * _BLOCK_BYTES)
                if tally.files % _FILES_AT_ONCE == 0:
                    yield
                if stat.S_ISDIR(status.st_mode):
                    yield from _count(entry.name, folder, tally, level + 1)
    finally:
        os.close(folder)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # removed meanwhile
    except OSError as error:  # a folder may be listed and all the same not be entered
        raise UnreadableError from error


def _removed(thread: int, device: int) -> Iterator[tuple[int, int]]:
    """Yield inode and size of each file of the device that only this thread's process still holds."""
    for name in _open_files(thread):
        with suppress(OSError):
            status = os.stat(f"/proc/{thread}/fd/{name}")
            if status.st_nlink == 0 and status.st_dev == device and stat.S_ISREG(status.st_mode):
                yield status.st_ino, status.st_blocks * _BLOCK_BYTES
    # Removed, closed, and still mapped.
    with suppress(OSError), open(f"/proc/{thread}/maps", "rb") as maps:
        for start, end, major, minor, inode in _REMOVED.findall(maps.read()):
            if os.makedev(int(major, 16), int(minor, 16)) == device:
                yield int(inode), int(end, 16) - int(start, 16)


def _open_files(thread: int) -> list[str]:
    for _ in range(_TRIES):
        try:
            return os.listdir(f"/proc/{thread}/fd")
        except _GONE:
            return []
        except PermissionError:
            # So it is when a thread has just ended, and for a moment while a program is being started.
            if not _holds_memory(thread):
                return []
            time.sleep(_PAUSE_S)
    raise UnreadableError


def _holds_memory(thread: int) -> bool:
    try:
        return bool(process_tree.resident_bytes([thread]))
    except process_tree.HiddenError as error:
        raise UnreadableError from error
