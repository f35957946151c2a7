"""The sandbox layers around a job's process, and the detection of those that the kernel permits.

- ``namespaces``: its own users, mounts, processes, network, IPC and host name
- ``landlock``: access only to readable paths and its own folder
- ``seccomp``: only the system calls that rendering needs

Each layer is effective without the others. They are set up before the job is read, and can't be removed.
Limits (`limits.py`) and an empty environment (`job/process.py`) are applied in addition.
"""

import os
import selectors
from collections.abc import Sequence
from dataclasses import dataclass

from ..replacing import replace
from . import kernel, landlock, mounts, seccomp

LAYERS = ("namespaces", "landlock", "seccomp")
_TRIAL_FOLDER = "/tmp"
_TRIAL_SPACE = mounts.Space(size_bytes=1 << 20, files=16)
_WORKS = "+"
# Files in /proc/self that a process may read. Not its mounts, control group and initial environment, which
# contain paths of the machine, nor `task`, which repeats them. Programs that scenes start (TeX, dvisvgm)
# don't read /proc.
_OF_ITSELF = (
    "auxv",
    "cmdline",
    "comm",
    "fd",
    "fdinfo",
    "io",
    "limits",
    "maps",
    "smaps",
    "stat",
    "statm",
    "status",
)
_OWN_PROC = tuple(f"/proc/self/{name}" for name in _OF_ITSELF)
# Readable if jobs have no /proc of their own.
_OF_THE_MACHINE = ("/proc/meminfo", "/proc/cpuinfo", "/proc/stat")


@dataclass(frozen=True)
class Sandbox:
    """The active `layers`, and the paths that a job may read."""

    layers: frozenset[str]
    readable: tuple[str, ...]
    _filter: bytes | None = None

    @property
    def isolated(self) -> bool:
        """Whether jobs have their own process-id namespace and root."""
        return "namespaces" in self.layers

    def prepare(self) -> "Sandbox":
        """Return the same sandbox with data precomputed that all jobs share."""
        if self.isolated and "seccomp" in self.layers:
            return Sandbox(self.layers, self.readable, seccomp.make_filter(exposed=None))
        return self

    def enter(self, folder: str, space: mounts.Space, files: str | None = None) -> str | None:
        """Enter the sandbox, as the first process of its namespaces. Raises OSError.

        `space`: passed to `mounts.enter` if jobs are isolated; `files`: a folder that the job may only read,
        whose path in the sandbox is returned. With neither namespaces nor Landlock, the job can also reach
        what is beside that folder in the worker's, and replace its entries if it has the same user as the
        service. It contains links for this job alone, and seccomp keeps the modes of the files, which
        are read-only for all users.
        """
        if self.isolated:
            mounts.enter(folder, self.readable, space, files)
            files = files and mounts.FILES_FOLDER
        if files is not None:
            os.stat(files)  # Landlock would ignore that it is missing
        kernel.drop_capabilities()
        os.chdir(folder)
        if "landlock" in self.layers:
            memory, proc = (mounts.MEMORY_FOLDERS, ()) if self.isolated else ((), _OF_THE_MACHINE)
            landlock.restrict(
                readable=(*self.readable, *_OWN_PROC, *proc),
                data=() if files is None else (files,),
                devices=mounts.DEVICES,
                writable=(folder, *memory),
            )
        if "seccomp" in self.layers:
            kernel.filter_system_calls(self._filter or seccomp.make_filter(exposed=os.getpid()))
            replace(selectors, DefaultSelector=selectors.PollSelector)  # asyncio's: there is no epoll
        return files


def find(readable: Sequence[str], without: Sequence[str]) -> tuple[Sandbox, dict[str, str]]:
    """Return the sandbox of all layers that work on this machine, and the problems of the others."""
    problems = {}
    layers = set[str]()
    for layer in LAYERS:
        problem = (
            "it is switched off" if layer in without else _try(Sandbox(frozenset({layer}), tuple(readable)))
        )
        if problem is None:
            layers.add(layer)
        else:
            problems[layer] = problem
    return Sandbox(frozenset(layers), tuple(readable)).prepare(), problems


def _try(sandbox: Sandbox) -> str | None:
    """Return the problem of a process that enters the sandbox; None if it works."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _trial(sandbox, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as report:
        text = report.read()
    os.waitpid(child, 0)
    if not text:
        return "the process that tried it ended"
    return text.decode().removeprefix(_WORKS) or None


def _trial(sandbox: Sandbox, writer: int) -> None:
    report = _WORKS
    try:
        kernel.set_readable(True)
        if sandbox.isolated:
            kernel.enter_namespaces()
            if os.fork() != 0:
                os.wait()
                return  # the first process of the namespaces reports
        sandbox.enter(_TRIAL_FOLDER, _TRIAL_SPACE)
    except (OSError, AttributeError) as error:  # AttributeError: libseccomp lacks a function
        report = str(error)
    os.write(writer, report.encode())
