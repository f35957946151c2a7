"""Attacks of the service on its own sandbox, as an ordinary job, before it renders other jobs.

The service puts a line ``TARGETS = {…}`` in front: `secrets`, files outside the job's folder;
`folders`, where nothing may be written; `marks`, files that the service looks for afterwards, because
the job may have folders of the same names to itself; `service`, its process id; `processes`, how many
the job may start, or 0 where that isn't to be tried; `others`, how many more of its user may at most
have been counted in that limit, 0 in a namespace; `paths`, which must be named nowhere; `hostName`, the
name that the machine must seem to have, or "" where that can't be. Ends with SandboxHolds, or with
SandboxLeaks and the names of what got through.
"""

import ctypes
import os
import re
import resource
import socket
import sys
import threading
from collections.abc import Callable

TARGETS: dict

LOOPBACK, ANYWHERE = ("127.0.0.1", 9), ("192.0.2.1", 9)
PTRACE_TRACEME = 0
CLONE_NEWUSER = 0x10000000
KERNEL_SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger")
libc = ctypes.CDLL(None, use_errno=True)


class SandboxHolds(Exception): ...


class SandboxLeaks(Exception): ...


def reads(path: str) -> bool:
    with open(path, "rb") as file:
        file.read(1)
    return True


def writes_into(folder: str) -> bool:
    path = f"{folder}/scenepress-self-attack"
    open(path, "x").close()
    os.remove(path)
    return True


def leaves_unseen(path: str) -> bool:
    open(path, "x").close()
    return False


def opens_for_writing(path: str) -> bool:
    os.close(os.open(path, os.O_WRONLY))
    return True


def changes(path: str) -> bool:
    before = os.stat(path).st_ctime_ns  # of any change: of its bytes, mode, times or owner
    for attempt in (
        lambda: os.chmod(path, 0o640),
        lambda: os.utime(path, (1, 1)),
        lambda: os.truncate(path, 0),
        lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)),
        lambda: os.chown(path, -1, os.getgid()),
        lambda: os.setxattr(path, "user.mark", b"x"),
    ):
        gets_through(attempt)
    return os.stat(path).st_ctime_ns != before


def connects(kind: int, address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, kind) as network:
        network.settimeout(1)
        try:
            network.connect(address)
        except ConnectionRefusedError:
            pass  # there is a network to be refused by
    return True


def makes_a_local_socket() -> bool:
    socket.socket(socket.AF_UNIX).close()
    return True


# In a process-id namespace there are two, and no parent; their ids may be those of others outside.
OURS = (0, 1, os.getpid())


def others() -> list[int]:
    return [pid for pid in (TARGETS["service"], os.getppid()) if pid not in OURS]


# Files of its own process, if it may read them.
TELLING = ("environ", "cmdline", "maps", "mountinfo", "mounts", "mountstats", "cgroup")
LINKS = ("exe", "cwd", "root")


def names_a_path(source: Callable) -> bool:
    text = source()
    # /manim is not named by /scenepress/python/lib/manim, nor by /manim-0.22.
    return any(re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", text) for path in TARGETS["paths"])


def contents(name: str) -> str:
    with open(f"/proc/self/{name}", errors="replace") as file:
        return file.read()


def what_names_paths() -> list[Callable[[], str]]:
    return [
        *[lambda name=name: contents(name) for name in TELLING],
        *[lambda name=name: os.readlink(f"/proc/self/{name}") for name in LINKS],
        lambda: repr((sys.path, sys.prefix, sys.base_prefix, sys.executable, sys.argv, dict(os.environ))),
        lambda: repr([getattr(module, "__file__", None) for module in list(sys.modules.values())]),
        os.getcwd,
    ]


def tells_the_host_name() -> bool:
    system = os.uname()
    with_domain = ctypes.create_string_buffer(6 * 65)
    libc.uname(with_domain)
    domain = with_domain.raw[5 * 65 :].rstrip(b"\0").decode()
    return {system.nodename, domain} != {TARGETS["hostName"]}


def signals(pid: int) -> bool:
    os.kill(pid, 0)
    return True


def sees_processes() -> bool:
    return any(name.isdecimal() and int(name) not in OURS for name in os.listdir("/proc"))


def mounts() -> bool:
    return libc.mount(b"none", b".", b"tmpfs", 0, None) == 0


def becomes_root_of_a_namespace() -> bool:
    return libc.unshare(CLONE_NEWUSER) == 0


def is_traced() -> bool:
    return libc.ptrace(PTRACE_TRACEME, 0, 0, 0) == 0


def starts_too_many_processes() -> bool:
    threading.stack_size(65_536)
    over = threading.Event()
    started = []
    try:
        for _ in range(processes_it_may_have() + 1):
            started.append(threading.Thread(target=over.wait))
            started[-1].start()
    except RuntimeError:  # can't start new thread
        started.pop()
        return False
    finally:
        over.set()
        for thread in started:
            thread.join()
    return True


def processes_it_may_have() -> int:
    # Where the kernel counts a user's, with those that ran when the limit was set; some may have ended since.
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    is_ours = 0 <= limit <= TARGETS["processes"] + TARGETS["others"]
    return limit if is_ours else TARGETS["processes"]


def each(attack: Callable, values: list) -> list[Callable[[], bool]]:
    return [lambda value=value: attack(value) for value in values]


ATTACKS = {
    "read a file of the host": each(reads, TARGETS["secrets"]),
    "wrote outside of the job's folder": [
        *each(writes_into, TARGETS["folders"]),
        *each(leaves_unseen, TARGETS["marks"]),
    ],
    "changed a file outside of the job's folder": each(changes, TARGETS["secrets"]),
    "opened kernel settings for writing": each(opens_for_writing, KERNEL_SETTINGS),
    "reached the network": [
        lambda: connects(socket.SOCK_STREAM, LOOPBACK),
        lambda: connects(socket.SOCK_DGRAM, ANYWHERE),
    ],
    "made a socket": [makes_a_local_socket],
    "signalled a process outside": each(signals, others()),
    "saw other processes": [sees_processes, *each(reads, [f"/proc/{pid}/status" for pid in others()])],
    "saw a path of the machine": each(names_a_path, what_names_paths()) if TARGETS["paths"] else [],
    "saw the machine's name": [tells_the_host_name] if TARGETS["hostName"] else [],
    "mounted a file system": [mounts],
    "made a user namespace": [becomes_root_of_a_namespace],
    "traced a process": [is_traced],
    "started more processes than it may": [starts_too_many_processes] if TARGETS["processes"] else [],
}


def gets_through(attack: Callable[[], bool]) -> bool:
    try:
        return attack()
    except OSError:
        return False


leaks = [name for name, ways in ATTACKS.items() if any([gets_through(way) for way in ways])]
if leaks:
    raise SandboxLeaks(", ".join(leaks))
raise SandboxHolds
