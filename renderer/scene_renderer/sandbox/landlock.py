"""Landlock: restricts file access of a process and its children, in addition to file modes.

It needs no namespaces: only listed paths can be opened. It doesn't hide names, and doesn't restrict Unix
sockets with a path; `seccomp.py` does.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

from . import kernel

# The same on every architecture.
_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_MAKE_CHAR = 1 << 6
_MAKE_SOCK = 1 << 9
_MAKE_BLOCK = 1 << 11
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_SPECIAL_FILES = _MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK
# Access rights by ABI version: 13 in the first, then linking between folders, truncating, no new file rights
# in the fourth, ioctl on devices.
_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_NEWEST_RIGHTS = 5
_TCP_SINCE, _BIND_AND_CONNECT = 4, 3
_SCOPES_SINCE, _ABSTRACT_SOCKETS_AND_SIGNALS = 6, 3


def version() -> int:
    """Return the kernel's ABI version. Raises OSError if it doesn't support Landlock."""
    return kernel.system_call("landlock", _CREATE_RULESET, None, 0, _VERSION)


def restrict(
    *, readable: Iterable[str], data: Iterable[str], devices: Iterable[str], writable: Iterable[str]
) -> None:
    """Forbid all file access except the following. Ignores missing paths. Raises OSError.

    `readable`: read and execute; `data`: read; `devices`: read and write; `writable`: everything except
    executing files and creating sockets and devices.
    """
    known = version()
    handled = _RIGHTS[min(known, _NEWEST_RIGHTS)]
    attributes = [handled]
    if known >= _TCP_SINCE:
        attributes.append(_BIND_AND_CONNECT)
    if known >= _SCOPES_SINCE:
        attributes.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    setting = b"".join(value.to_bytes(8, "little") for value in attributes)
    ruleset = kernel.system_call("landlock_create_ruleset", _CREATE_RULESET, setting, len(setting), 0)
    for path in readable:
        _allow(ruleset, path, handled & _READ)
    for path in data:
        _allow(ruleset, path, handled & _READ & ~_EXECUTE)
    for path in devices:
        _allow(ruleset, path, handled & (_READ_FILE | _WRITE_FILE | _TRUNCATE))
    for path in writable:
        _allow(ruleset, path, handled & ~(_EXECUTE | _SPECIAL_FILES | _IOCTL_DEV))
    kernel.system_call("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError):
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        if not os.path.isdir(parent):
            rights &= _OF_FILES
        rule = rights.to_bytes(8, "little") + parent.to_bytes(4, "little")
        kernel.system_call("landlock_add_rule", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        os.close(parent)
