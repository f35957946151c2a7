"""The disk usage of a job: the files in its folder, and removed files that it still has open or mapped.

A scene can change its folders during a pass, and hide a file by moving it to a folder that was already
scanned. Only the next pass shows whether a pass was complete (`Pass.is_complete_before`).
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import SystemRandom

from . import process_tree

_BLOCK_BYTES = 512  # unit of st_blocks on any file system
_REMOVED = re.compile(rb"^[0-9a-f]+-[0-9a-f]+ \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .*\(deleted\)$")
_LEVELS_MAX = 64
# O_NOATIME: a scene must not see the progress of a pass in access times.
_FOLDER_ITSELF = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOATIME
_TRIES, _PAUSE_S = 20, 0.001
_GONE = (FileNotFoundError, ProcessLookupError)
# Resolution of file times: two changes within one tick can't be distinguished.
_TICK_NS = 20_000_000
# Each line contains a path, which a scene can make long.
_MAPS_BYTES_MAX = 1 << 20
_MAPS_CHUNK_BYTES = 65_536
_order = SystemRandom()


class UnreadableError(Exception):
    """A file that its own user can't examine, or folders that are too deep: both only serve to hide files."""


@dataclass
class Pass:
    """The result of one pass. `sizes`: bytes by inode; `folders`: time of the last change by inode.

    `mapped`: inodes of removed files that are only mapped, whose size is unknown. `is_vague`: there are more
    mappings than are examined. `is_fresh`: a folder was changed so recently that another change might not
    be visible.
    """

    sizes: dict[int, int] = field(default_factory=dict)
    folders: dict[int, int] = field(default_factory=dict)
    mapped: set[int] = field(default_factory=set)
    is_vague: bool = False
    is_fresh: bool = False

    def is_complete_before(self, following: "Pass") -> bool:
        """Whether no folder was changed between this pass and the following one."""
        return not self.is_fresh and self.folders == following.folders


def look(folder: str, pids: Iterable[int], ignored: set[int], most_files: int) -> Pass:
    """Scan the files of a job; stop at more than `most_files`.

    `pids`: its processes; `ignored`: inodes of removed files that were mapped before it started. Raises
    UnreadableError.
    """
    found = Pass()
    device = os.stat(folder).st_dev
    with suppress(_EnoughError):
        _look_into(folder, None, found, most_files)
        try:
            threads = list(process_tree.held_memory(pids, shared=False))
        except process_tree.HiddenError as error:
            raise UnreadableError from error
        for thread in threads:
            found.sizes.update(_open_and_removed(thread, device))
            found.is_vague |= _note_mapped(thread, device, found.mapped)
    found.mapped -= {*found.sizes, *ignored}
    return found


def mapped_by_this_process(folder: str) -> set[int]:
    """Return the inodes of removed files on the folder's disk that this process maps."""
    mapped = set[int]()
    _note_mapped(os.getpid(), os.stat(folder).st_dev, mapped)
    return mapped


class _EnoughError(Exception): ...


def _look_into(name: str, parent: int | None, found: Pass, most_files: int, level: int = 1) -> None:
    """Scan a folder by descriptor: resolving a path takes longer the deeper it is."""
    if level > _LEVELS_MAX:
        raise UnreadableError
    try:
        folder = os.open(name, _FOLDER_ITSELF, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return  # removed or replaced meanwhile
    except OSError as error:
        raise UnreadableError from error
    try:
        status = os.fstat(folder)
        found.folders[status.st_ino] = status.st_ctime_ns
        found.is_fresh |= abs(time.time_ns() - status.st_ctime_ns) < _TICK_NS
        folders = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if (status_of_entry := _status(entry)) is None:
                    continue
                found.sizes[status_of_entry.st_ino] = status_of_entry.st_blocks * _BLOCK_BYTES
                if len(found.sizes) > most_files:
                    raise _EnoughError
                if stat.S_ISDIR(status_of_entry.st_mode):
                    folders.append(entry.name)
        # A random order: a scene can't predict which folder is scanned last.
        _order.shuffle(folders)
        for inner in folders:
            _look_into(inner, folder, found, most_files, level + 1)
    finally:
        os.close(folder)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # removed meanwhile
    except OSError as error:  # a folder may be readable but not searchable
        raise UnreadableError from error


def _open_and_removed(thread: int, device: int) -> Iterator[tuple[int, int]]:
    """Yield inode and size of each unlinked file on the device that a process has open."""
    for name in _open_files(thread):
        with suppress(OSError):
            status = os.stat(f"/proc/{thread}/fd/{name}")
            if status.st_nlink == 0 and status.st_dev == device and stat.S_ISREG(status.st_mode):
                yield status.st_ino, status.st_blocks * _BLOCK_BYTES


def _note_mapped(thread: int, device: int, mapped: set[int]) -> bool:
    """Add the inodes of removed files that a process maps. Return whether there are too many mappings."""
    try:
        maps = os.open(f"/proc/{thread}/maps", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # it has ended
    try:
        rest, read_bytes = b"", 0
        while chunk := os.read(maps, _MAPS_CHUNK_BYTES):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if (match := _REMOVED.match(line)) and _device(match) == device:
                    mapped.add(int(match[3]))
            read_bytes += len(chunk)
            if read_bytes > _MAPS_BYTES_MAX:
                return True
    except OSError:
        pass  # it has ended
    finally:
        os.close(maps)
    return False


def _device(match: re.Match[bytes]) -> int:
    return os.makedev(int(match[1], 16), int(match[2], 16))


def _open_files(thread: int) -> list[str]:
    for _ in range(_TRIES):
        try:
            return os.listdir(f"/proc/{thread}/fd")
        except _GONE:
            return []
        except PermissionError:
            # Also raised when a thread has just ended, and briefly during an exec.
            if not _holds_memory(thread):
                return []
            time.sleep(_PAUSE_S)
    raise UnreadableError


def _holds_memory(thread: int) -> bool:
    try:
        return bool(process_tree.held_memory([thread], shared=False))
    except process_tree.HiddenError as error:
        raise UnreadableError from error
