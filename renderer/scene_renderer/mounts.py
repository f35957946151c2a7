"""The files that a job sees: a root of its own, made of what it may read, and one file system in memory.

Everything else of the machine isn't there. Needs a mount namespace and its capabilities; the
mounts of the namespace that it came from are gone afterwards, also for whoever shares it.

All that a job writes is in the one file system, of which it sees three folders: its own, ``/tmp`` and
``/dev/shm``. The kernel keeps it to its size and its number of files, counts what is removed and
still in use, and frees all of it with the last process of the job.
"""

import os
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

# No /dev/zero: memory shared by mapping it is memory that nobody can count.
DEVICES = ("/dev/null", "/dev/urandom")
# Beside the job's own folder; in the same file system.
MEMORY_FOLDERS = ("/tmp", "/dev/shm")
# Any folder that is there will do; it is covered for a moment.
_PLACE = "/tmp"


@dataclass(frozen=True)
class Space:
    """How much a job's files may take, in bytes, and how many files and folders there may be."""

    size_bytes: int
    files: int


def enter(folder: str, readable: Sequence[str], space: Space, inputs: Sequence[str] = ()) -> None:
    """Make an empty `folder` and the `readable` paths the only files there are. Raises OSError.

    `inputs`: names of files in the folder that was at its place; the job may read those that are there.
    """
    kernel.mount("none", "/", "none", _RECURSIVE | _PRIVATE)
    links = {path: os.readlink(path) for path in readable if _is_link_into(path, readable)}
    trees = {}
    for path in (os.path.join(folder, name) for name in inputs):
        if os.path.lexists(path):
            trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC)
    for path in set(readable):
        if path not in links and os.path.exists(path):
            trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_DEVICES)
    for path in DEVICES:
        trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_EXEC)

    trees |= _new_folders((folder, *MEMORY_FOLDERS), space, len(inputs))
    kernel.mount("tmpfs", _PLACE, "tmpfs", NO_SUID | NO_DEVICES, "mode=0755,size=1m,nr_inodes=4096")
    for path in sorted(trees):  # parents first
        _attach(trees[path], _PLACE + path)
    for path, text in links.items():
        os.makedirs(os.path.dirname(_PLACE + path), exist_ok=True)
        os.symlink(text, _PLACE + path)
    os.makedirs(f"{_PLACE}/proc", exist_ok=True)
    # Of /proc only the processes: nothing of the kernel's settings is there to be written.
    kernel.mount_proc(f"{_PLACE}/proc", "subset=pid")
    _become_root()


@dataclass(frozen=True)
class Used:
    """What a job's files take of the memory, and what they are too many of, if anything."""

    size_bytes: int
    reason: Literal["disk", "files"] | None


def used() -> Used:
    """Return how full the job's file system is, for processes that share its mount namespace."""
    status = os.statvfs(MEMORY_FOLDERS[0])
    reason: Literal["disk", "files"] | None = None
    if status.f_bfree == 0:
        reason = "disk"
    elif status.f_ffree == 0:
        reason = "files"
    return Used((status.f_blocks - status.f_bfree) * status.f_frsize, reason)


def _new_folders(paths: Sequence[str], space: Space, inputs: int) -> dict[str, int]:
    """Return descriptors of empty folders in one new file system, by the paths that they are for."""
    files = space.files + inputs + len(paths) + 1  # what is ours doesn't count
    options = f"mode=0700,size={space.size_bytes},nr_inodes={files}"
    kernel.mount("tmpfs", _PLACE, "tmpfs", NO_SUID | NO_DEVICES, options)
    folders = {}
    for number, path in enumerate(paths):
        os.mkdir(made := f"{_PLACE}/{number}", 0o700)
        folders[path] = _copy(made, NO_SUID | NO_DEVICES)
    return folders


def _is_link_into(path: str, readable: Sequence[str]) -> bool:
    """Whether a path, like /bin, is a link to something below another one."""
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


def _attach(tree: int, target: str) -> None:
    if not os.path.exists(target):
        if os.path.isdir(tree):
            os.makedirs(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o444))
    arguments = (tree, b"", _AT_FDCWD, os.fsencode(target), _MOVE_MOUNT_F_EMPTY_PATH)
    kernel.system_call("move_mount", _MOVE_MOUNT, *arguments)
    os.close(tree)


def _become_root() -> None:
    os.chdir(_PLACE)
    kernel.system_call("pivot_root", _PIVOT_ROOT[os.uname().machine], b".", b".")
    kernel.unmount(".", _MNT_DETACH)
    os.chdir("/")
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    _set_attributes(root, READ_ONLY)
    os.close(root)
