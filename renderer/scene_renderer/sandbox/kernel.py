"""System calls that Python's standard library doesn't provide. Linux only."""

import ctypes
import errno
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_PR_SET_SPECULATION_CTRL = 53
_STORE_BYPASS, _INDIRECT_BRANCH = 0, 1
_FORCE_DISABLE = 8
# No per-process control: not on this processor or kernel, or fixed for all processes.
_NO_CONTROL = (errno.ENXIO, errno.ENODEV, errno.EPERM, errno.EINVAL)
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWNS = 0x00020000
_CLONE_NEWUTS = 0x04000000
_CLONE_NEWIPC = 0x08000000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_CLONE_NEWNET = 0x40000000
_NAMESPACES = _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWNET | _CLONE_NEWIPC | _CLONE_NEWUTS
# The same on every machine, so it identifies none.
_HOST_NAME = b"scenepress"
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8  # of mounts
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def system_call(name: str, number: int, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make a system call that the C library has no function for. Raises OSError, naming it."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(name, _libc.syscall(ctypes.c_long(number), *wide))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system. Raises OSError."""
    texts = (os.fsencode(source), os.fsencode(target), kind.encode())
    _checked(f"mount {kind}", _libc.mount(*texts, ctypes.c_ulong(flags), options.encode()))


def mount_proc(target: str, options: str = "") -> None:
    """Mount a /proc of this process-id namespace. Raises OSError."""
    mount("proc", target, "proc", NO_SUID | NO_DEVICES | NO_EXEC, options)


def unmount(target: str, flags: int) -> None:
    """Unmount a file system. Raises OSError."""
    _checked("umount", _libc.umount2(os.fsencode(target), flags))


def _checked(name: str, result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
    return result


def _prctl(option: int, value: int) -> None:
    _checked(f"prctl({option})", _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0))


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filter_system_calls(instructions: bytes) -> None:
    """Install a BPF program as filter of all further system calls. Can't be undone."""
    program = _FilterProgram(len(instructions) // 8, instructions)
    result = _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program), 0, 0)
    _checked("seccomp", result)


def forbid_new_privileges() -> None:
    """Prevent executed programs from gaining privileges, for example by set-user-ID bits. Can't be undone."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent has ended."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends. A change of the user id resets this."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def outlive_parent() -> None:
    """Undo `die_with_parent`."""
    _prctl(_PR_SET_PDEATHSIG, 0)


def forbid_speculation() -> None:
    """Disable speculation past stores and indirect branches for this process and its children.

    Can't be undone: scenes are untrusted code next to others' memory. Kernels before 5.16 did this for every
    process with a seccomp filter. Its cost for a render is not measured: the machines used for development
    offer neither control. Not requested are flushing the L1 data cache, for which the kernel kills processes
    where threads share a core, and core scheduling, which leaves threads of a core idle.
    """
    for which in (_STORE_BYPASS, _INDIRECT_BRANCH):
        result = _libc.prctl(
            _PR_SET_SPECULATION_CTRL, ctypes.c_ulong(which), ctypes.c_ulong(_FORCE_DISABLE), 0, 0
        )
        if result < 0 and ctypes.get_errno() not in _NO_CONTROL:
            _checked("speculation", result)


def set_readable(readable: bool) -> None:
    """Allow or forbid other processes of the same user to read this one's memory and trace it.

    A process that isn't readable can't enter a user namespace: its ``/proc`` files belong to root.
    """
    _prctl(_PR_SET_DUMPABLE, int(readable))


def set_name(name: str) -> None:
    """Name this process, as `ps` shows it: up to 15 bytes."""
    _checked("prctl", _libc.prctl(_PR_SET_NAME, name.encode(), 0, 0, 0))


def enter_namespaces() -> None:
    """Enter new namespaces of every kind; the next child is init of the process-id namespace.

    User and group keep their ids; host and domain get a fixed name. Raises OSError if the kernel doesn't
    permit it.
    """
    uid, gid = os.getuid(), os.getgid()
    _checked("unshare", _libc.unshare(_NAMESPACES))
    for name, set_name in (("sethostname", _libc.sethostname), ("setdomainname", _libc.setdomainname)):
        _checked(name, set_name(_HOST_NAME, len(_HOST_NAME)))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_capabilities() -> None:
    """Drop all capabilities, also those that a program executed by root would regain."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0)  # EPERM: there were none
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked("capset", _libc.capset(ctypes.byref(header), nothing))
