"""The files that a job sees: a root of its own, made of what it may read, its folder and fresh tmpfs.

Everything else of the machine isn't there. Needs a mount namespace and its capabilities; the
mounts of the namespace that it came from are gone afterwards, also for whoever shares it.
"""

import os
from collections.abc import Sequence

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
# They are memory, and count against the job's.
MEMORY_FOLDERS = ("/tmp", "/dev/shm")
_MEMORY_FOLDER = "mode=0700,size=64m,nr_inodes=4096"
# Any folder that is there will do; it is covered for a moment.
_PLACE = "/tmp"


def enter(folder: str, readable: Sequence[str]) -> None:
    """Make `folder`, writable, and the `readable` paths the only files there are. Raises OSError."""
    kernel.mount("none", "/", "none", _RECURSIVE | _PRIVATE)
    links = {path: os.readlink(path) for path in readable if _is_link_into(path, readable)}
    trees = {folder: _copy(folder, NO_SUID | NO_DEVICES)}
    for path in set(readable):
        if path not in links and os.path.exists(path):
            trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_DEVICES)
    for path in DEVICES:
        trees[path] = _copy(path, READ_ONLY | NO_SUID | NO_EXEC)

    kernel.mount("tmpfs", _PLACE, "tmpfs", NO_SUID | NO_DEVICES, "mode=0755,size=1m,nr_inodes=4096")
    for path in sorted({*trees, *MEMORY_FOLDERS}):  # parents first
        target = _PLACE + path
        if path in MEMORY_FOLDERS:
            os.makedirs(target, exist_ok=True)
            kernel.mount("tmpfs", target, "tmpfs", NO_SUID | NO_DEVICES, _MEMORY_FOLDER)
        else:
            _attach(trees[path], target)
    for path, text in links.items():
        os.makedirs(os.path.dirname(_PLACE + path), exist_ok=True)
        os.symlink(text, _PLACE + path)
    os.makedirs(f"{_PLACE}/proc", exist_ok=True)
    # Of /proc only the processes: nothing of the kernel's settings is there to be written.
    kernel.mount_proc(f"{_PLACE}/proc", "subset=pid")
    _become_root()


def memory_bytes() -> int:
    """Return the memory that the job's files in memory take."""
    total = 0
    for path in MEMORY_FOLDERS:
        status = os.statvfs(path)
        total += (status.f_blocks - status.f_bfree) * status.f_frsize
    return total


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
