"""The file system of a job: its own root with the readable paths, and one file system in memory.

It contains no other files of the machine. Needs a mount namespace with capabilities; its previous mounts are
removed, also for other processes that share the namespace.

All files that a job writes are in the one file system in memory, mounted at three folders: its own, ``/tmp``
and ``/dev/shm``. The kernel limits its size and number of files, counts removed files that are still in use,
and frees it with the last process of the job.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from . import kernel
from .kernel import NO_DEVICES, NO_EXEC, NO_SUID, READ_ONLY

# Numbers above 423 are the same on every architecture.
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_OPEN_TREE = 428
_MOVE_MOUNT = 429
_MOUNT_SETATTR = 442
_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_RECURSIVE, _PRIVATE = 0x4000, 1 << 18
_MNT_DETACH = 2

# No /dev/zero: shared mappings of it are memory that can't be counted.
DEVICES = ("/dev/null", "/dev/urandom")
# In addition to the job's own folder, in the same file system.
MEMORY_FOLDERS = ("/tmp", "/dev/shm")
# The mount point of the files that belong to the job.
FILES_FOLDER = "/scenepress/files"
# Temporary mount point; any existing folder works.
_PLACE = "/tmp"
# Larger files are mounted. The kernel does not mount a file that was replaced, which can still be read.
_COPIED_BYTES_MAX = 256 << 10


@dataclass(frozen=True)
class Space:
    """Limits of the total size of a job's files, and of the number of its files and folders."""

    size_bytes: int
    files: int


def enter(folder: str, readable: Sequence[str], space: Space, files: str | None) -> None:
    """Replace the root by one with an empty `folder` and the `readable` paths. Raises OSError.

    `files`: a folder that is mounted at `FILES_FOLDER`.
    """
    kernel.mount("none", "/", "none", _RECURSIVE | _PRIVATE)
    copies = {path: content for path in set(readable) if (content := _small_file(path, readable)) is not None}
    links = {path: os.readlink(path) for path in readable if _is_link_into(path, readable)}
    trees = {}
    for path in set(readable):
        if path not in links and path not in copies and os.path.exists(path):
            trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_DEVICES)
    for path in DEVICES:
        trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_EXEC)
    if files is not None:
        trees[FILES_FOLDER] = _copy(files, READ_ONLY | NO_SUID | NO_EXEC | NO_DEVICES)

    trees |= _new_folders((folder, *MEMORY_FOLDERS), space)
    kernel.mount("tmpfs", _PLACE, "tmpfs", NO_SUID | NO_DEVICES, "mode=0755,size=4m,nr_inodes=4096")
    for path in sorted(trees):  # parents first
        _attach(trees[path], path)
    for path, content in copies.items():
        _write(_PLACE + path, content)
    for path, text in links.items():
        os.makedirs(os.path.dirname(_PLACE + path), exist_ok=True)
        os.symlink(text, _PLACE + path)
    os.makedirs(f"{_PLACE}/proc", exist_ok=True)
    # /proc with processes only, without kernel settings.
    kernel.mount_proc(f"{_PLACE}/proc", "subset=pid")
    _become_root()


@dataclass(frozen=True)
class Used:
    """The memory used by a job's files, and the limit that they have reached, if any."""

    size_bytes: int
    reason: Literal["disk", "files"] | None


def used() -> Used:
    """Return the usage of the job's file system. The caller must share its mount namespace."""
    status = os.statvfs(MEMORY_FOLDERS[0])
    reason: Literal["disk", "files"] | None = None
    if status.f_bfree == 0:
        reason = "disk"
    elif status.f_ffree == 0:
        reason = "files"
    return Used((status.f_blocks - status.f_bfree) * status.f_frsize, reason)


def _new_folders(paths: Sequence[str], space: Space) -> dict[str, int]:
    """Create a file system with empty folders. Return their descriptors by the paths to mount them at."""
    files = space.files + len(paths) + 1  # our own entries don't count
    options = f"mode=0700,size={space.size_bytes},nr_inodes={files}"
    kernel.mount("tmpfs", _PLACE, "tmpfs", NO_SUID | NO_DEVICES, options)
    folders = {}
    for number, path in enumerate(paths):
        os.mkdir(made := f"{_PLACE}/{number}", 0o700)
        folders[path] = _copy(made, NO_SUID | NO_DEVICES)
    return folders


def _is_link_into(path: str, readable: Sequence[str]) -> bool:
    """Whether a path, like /bin, is a symbolic link to a path below another readable one."""
    real = os.path.realpath(path)
    return os.path.islink(path) and any(f"{real}/".startswith(f"{other}/") for other in readable)


def _copy(path: str, attributes: int) -> int:
    """Return a descriptor of a copy of the mounts at and below a path."""
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    tree = kernel.system_call("open_tree", _OPEN_TREE, _AT_FDCWD, os.fsencode(path), flags)
    _set_attributes(tree, attributes, _AT_RECURSIVE)
    return tree


def _set_attributes(tree: int, attributes: int, flags: int = 0) -> None:
    setting = b"".join(value.to_bytes(8, "little") for value in (attributes, 0, 0, 0))
    arguments = (tree, b"", flags | _AT_EMPTY_PATH, setting, len(setting))
    kernel.system_call("mount_setattr", _MOUNT_SETATTR, *arguments)


def _attach(tree: int, path: str) -> None:
    """Mount a tree at a path of the new root. Raises OSError with the path, for example if it was removed."""
    target = _PLACE + path
    if not os.path.exists(target):
        if os.path.isdir(tree):
            os.makedirs(target)
        else:
            _write(target, b"")
    arguments = (tree, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
    try:
        kernel.system_call("move_mount", _MOVE_MOUNT, *arguments)
    except OSError as error:
        raise OSError(error.errno, f"{path} can't be mounted; it may have been replaced", path) from error
    os.close(tree)


def _small_file(path: str, readable: Sequence[str]) -> bytes | None:
    """Return the content of a small file, even if it was removed; None if the file must be mounted."""
    if any(path.startswith(f"{other}/") for other in readable):
        return None
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _COPIED_BYTES_MAX:
            return None
        with open(path, "rb") as file:
            return file.read(_COPIED_BYTES_MAX)
    except OSError:
        return None


def _write(target: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444), "wb") as file:
        file.write(content)


def _become_root() -> None:
    os.chdir(_PLACE)
    kernel.system_call("pivot_root", _PIVOT_ROOT[os.uname().machine], b".", b".")
    kernel.unmount(".", _MNT_DETACH)
    os.chdir("/")
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    _set_attributes(root, READ_ONLY)
    os.close(root)
