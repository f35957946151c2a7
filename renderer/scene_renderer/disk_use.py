"""What a job has on disk: the files in its folder, and those it has removed and still holds."""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

_BLOCK_BYTES = 512  # whatever the file system's own
_REMOVED = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ ([0-9a-f]+):([0-9a-f]+) (\d+) .*\(deleted\)$", re.MULTILINE
)


class UnreadableError(Exception):
    """A folder that its own user may not look into: nobody makes one but to hide what is in it."""


def measure(folder: str, pids: Iterable[int], most_files: int) -> tuple[int, int]:
    """Return bytes and number of files; counting ends when there are more than `most_files`.

    Raises UnreadableError.
    """
    size = count = 0
    for status in _inside(folder):
        size += status.st_blocks * _BLOCK_BYTES
        count += 1
        if count > most_files:
            return size, count
    device = os.stat(folder).st_dev
    removed = {key: value for pid in pids for key, value in _removed(pid, device)}
    return size + sum(removed.values()), count + len(removed)


def _inside(folder: str) -> Iterator[os.stat_result]:
    folders = [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):
                        yield entry.stat(follow_symlinks=False)
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(entry.path)
        except (FileNotFoundError, NotADirectoryError):
            continue  # removed or replaced meanwhile
        except OSError as error:  # also of a path that is too long
            raise UnreadableError from error


def _removed(pid: int, device: int) -> Iterator[tuple[int, int]]:
    """Yield inode and size of each file of the device that only this process still holds."""
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                status = os.stat(f"/proc/{pid}/fd/{name}")
                if status.st_nlink == 0 and status.st_dev == device and stat.S_ISREG(status.st_mode):
                    yield status.st_ino, status.st_blocks * _BLOCK_BYTES
    # Removed, closed, and still mapped.
    with suppress(OSError), open(f"/proc/{pid}/maps", "rb") as maps:
        for start, end, major, minor, inode in _REMOVED.findall(maps.read()):
            if os.makedev(int(major, 16), int(minor, 16)) == device:
                yield int(inode), int(end, 16) - int(start, 16)
