"""The walls around a job's process, and which of them the kernel permits here.

- ``namespaces``: users, mounts, processes, network, IPC and host name of its own
- ``landlock``: no file but those it may read, and its own folder
- ``seccomp``: no system call but those that rendering needs

Each holds without the others. They are up before the job's first line is read, and nothing takes
them down. Limits (`limits.py`) and the empty environment (`job.py`) come on top.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from . import kernel, landlock, mounts, seccomp

LAYERS = ("namespaces", "landlock", "seccomp")
_TRIAL_FOLDER = "/tmp"
_TRIAL_SPACE = mounts.Space(size_bytes=1 << 20, files=16)
_WORKS = "+"
# What a process may read of itself. Not its mounts, its control group and its first environment, which name
# paths of the machine; nor `task`, where these are again. What scenes start (TeX, dvisvgm) reads nothing of
# /proc.
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
# Where jobs have no /proc to themselves.
_OF_THE_MACHINE = ("/proc/meminfo", "/proc/cpuinfo", "/proc/stat")


@dataclass(frozen=True)
class Sandbox:
    """`layers` of walls, and the paths that a job may read."""

    layers: frozenset[str]
    readable: tuple[str, ...]
    _filter: bytes | None = None

    @property
    def isolated(self) -> bool:
        """Whether jobs have a process-id namespace, and with it a root, to themselves."""
        return "namespaces" in self.layers

    def prepare(self) -> "Sandbox":
        """Return the same with what all jobs can share made beforehand."""
        if self.isolated and "seccomp" in self.layers:
            return Sandbox(self.layers, self.readable, seccomp.make_filter(exposed=None))
        return self

    def enter(self, folder: str, space: mounts.Space, inputs: Sequence[str] = ()) -> None:
        """Put up the walls around this process, the first of its namespaces. Raises OSError.

        `space`, `inputs`: as for `mounts.enter`, where the layers have a folder of their own for the job.
        """
        if self.isolated:
            mounts.enter(folder, self.readable, space, inputs)
        kernel.drop_capabilities()
        os.chdir(folder)
        if "landlock" in self.layers:
            memory, proc = (mounts.MEMORY_FOLDERS, ()) if self.isolated else ((), _OF_THE_MACHINE)
            landlock.restrict(
                readable=(*self.readable, *_OWN_PROC, *proc),
                devices=mounts.DEVICES,
                writable=(folder, *memory),
            )
        if "seccomp" in self.layers:
            kernel.filter_system_calls(self._filter or seccomp.make_filter(exposed=os.getpid()))


def find(readable: Sequence[str], without: Sequence[str]) -> tuple[Sandbox, dict[str, str]]:
    """Return the sandbox made of the layers that work here, and why the others don't."""
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
    """Return what goes wrong in a process that enters a sandbox; None when it works."""
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
    except (OSError, AttributeError) as error:  # the latter: a libseccomp without what is needed
        report = str(error)
    os.write(writer, report.encode())
