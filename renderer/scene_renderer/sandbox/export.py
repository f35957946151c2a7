"""Copies the requested output files, and nothing else, out of a job whose files are in memory.

All processes of the job are dead, so its files no longer change.
"""

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

# Doesn't follow links or block on pipes.
_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_UNFINISHED = ".unfinished"
_OUT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT)

Outcome = Literal["complete", "disk_full"]


def export(folder: str, target: int, outputs: Mapping[str, int]) -> Outcome:
    """Copy the `outputs` of a folder into the one open as `target`; rename each when it is complete.

    `outputs`: maximum size in bytes by name. Only regular files with one link are copied; one that is too
    large is replaced by a sparse file one byte larger than its maximum.
    """
    source = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for name, most_bytes in outputs.items():
        try:
            file = os.open(name, _PLAINLY, dir_fd=source)
        except OSError:
            continue  # missing, or not a regular file
        try:
            status = os.fstat(file)
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
                is_hole = status.st_size > most_bytes
                size_bytes = most_bytes + 1 if is_hole else status.st_size
                _copy(file, size_bytes, target, name, is_hole=is_hole)
        except OSError as error:
            with suppress(FileNotFoundError):
                os.unlink(name + _UNFINISHED, dir_fd=target)
            if error.errno not in _OUT_OF_SPACE:
                raise
            return "disk_full"
        finally:
            os.close(file)
    return "complete"


def _copy(file: int, size_bytes: int, target: int, name: str, *, is_hole: bool) -> None:
    copy = os.open(name + _UNFINISHED, _NEW, 0o600, dir_fd=target)
    try:
        if is_hole:
            os.ftruncate(copy, size_bytes)
        at = 0
        while not is_hole and at < size_bytes and (sent := os.sendfile(copy, file, at, size_bytes - at)):
            at += sent
    finally:
        os.close(copy)
    os.rename(name + _UNFINISHED, name, src_dir_fd=target, dst_dir_fd=target)
