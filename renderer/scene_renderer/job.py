"""A forked job: an outer process that watches, and an inner one that runs the scene.

The outer process stays in the zygote's process-id namespace. It starts the init process of a new
namespace and then the inner process, which runs the scene. When that has ended, it kills init, and the
kernel kills all processes of the namespace. Where the kernel permits no namespaces, the zygote kills the
remaining processes.
"""

import os
import resource
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from . import cgroup, export, kernel, limits, mounts, priority
from .messages import ForkCommand, InspectJob, TexJob
from .protocol import JobChannel, connect
from .sandbox import Sandbox
from .watch import FINISHED, Findings, watch

_FINDINGS = 3  # the descriptor that the outer process keeps
_EXIT_BROKEN = 70  # a failure outside the scene; errors of the scene are reported, with exit code 0
_WALLED = b"+"  # what the inner process writes to a pipe when it is in the sandbox

# Set by the service: a relocated renderer needs them to find its programs, TeX and fonts.
_PASSED_ON = (
    "PATH",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_FILE",
    "FONTCONFIG_PATH",
    "TEXMFCNF",
    "TEXMFVAR",
    "OPENBLAS_NUM_THREADS",
    "XDG_DATA_HOME",
    "SCENEPRESS_SCENE_FOLDER",
    "SCENEPRESS_SCENE_FILE",
)


def live(fork: ForkCommand, sandbox: Sandbox, zygote: int, findings: int, entrance: int | None) -> NoReturn:
    """Run the job and write the findings of its watch to the pipe `findings`.

    `entrance`: descriptor of the control group of the zygote's jobs, if there is one.
    Never returns: the caller is the zygote's code.
    """
    code = _EXIT_BROKEN
    try:
        if entrance is not None:
            cgroup.enter(entrance)
        code = _outer(fork, sandbox, zygote, findings)
    finally:
        os._exit(code)


def _outer(fork: ForkCommand, sandbox: Sandbox, zygote: int, findings: int) -> int:
    _forget_zygote(findings)
    stream = connect(fork.stream) if fork.stream is not None else None
    channel = JobChannel(fork.socket)  # the last, since the job comes over it
    os.chdir("/")  # leave the job's folder, whose mount will be removed
    if sandbox.isolated:
        kernel.set_readable(True)
        kernel.enter_namespaces()
        # The scene has the same user and could otherwise control this process, which is outside.
        kernel.set_readable(False)
    kernel.adopt_orphans()
    kernel.die_with_parent()
    if os.getppid() != zygote:
        return _EXIT_BROKEN  # the zygote died before `die_with_parent`
    init = os.fork() if sandbox.isolated else None
    if init == 0:
        _run_init(channel, stream)
    place = os.open(fork.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # before it is mounted over
    walled, wall = os.pipe2(os.O_CLOEXEC)
    inner = os.fork()
    if inner == 0:
        code = _EXIT_BROKEN
        try:
            for descriptor in (_FINDINGS, walled, place):
                os.close(descriptor)
            code = _inner(fork, channel, stream, sandbox, wall)
        finally:
            os._exit(code)
    channel.close()
    if stream:
        stream.close()
    os.close(wall)
    # From then on this process sees the job's /proc and files.
    is_walled = bool(os.read(walled, 1))
    found = watch(inner, fork, walled, isolated=sandbox.isolated) if is_walled else Findings()
    if found.finished and init is not None:
        os.kill(init, signal.SIGKILL)  # and with it all processes of the namespace
    found.write(_FINDINGS)
    if found.reason or found.finished:
        os.kill(inner, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    if found.finished:
        code = 0
    if init is not None:
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)  # returns when every process of the namespace is dead
        if is_walled and export.export(fork.folder, place, fork.outputs) == "disk_full":
            Findings("disk_full", found.memory_bytes).write(_FINDINGS)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    return code


def _run_init(channel: JobChannel, stream: socket.socket | None) -> NoReturn:
    """Run as init of the namespace. The kernel shields init from signals, so it must not be the scene."""
    try:
        kernel.die_with_parent()
        os.close(_FINDINGS)
        channel.close()
        if stream:
            stream.close()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps adopted children
        while True:
            signal.pause()
    finally:
        os._exit(_EXIT_BROKEN)


def _forget_zygote(findings: int) -> None:
    """Reset the zygote's signal handlers and close its descriptors, except one, which becomes `_FINDINGS`."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.dup2(findings, _FINDINGS)
    os.closerange(_FINDINGS + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _inner(
    fork: ForkCommand, channel: JobChannel, stream: socket.socket | None, sandbox: Sandbox, wall: int
) -> int:
    folder = fork.folder
    process = os.getpid()
    kernel.die_with_parent()
    priority.yield_to_the_renderer(background=fork.background)
    kernel.forbid_speculation()
    os.setpgid(0, 0)  # own process group: kill(0) must not reach the outer process
    kernel.set_readable(True)  # the outer process reads its memory usage
    priority.die_first()
    # In its own namespaces, a job's processes are counted separately.
    others = 0 if sandbox.isolated else limits.running_processes()
    sandbox.enter(folder, mounts.Space(fork.disk_bytes, fork.files), fork.inputs)
    os.write(wall, _WALLED)
    # A render whose video was streamed leaves nothing in its folder, so its end needs no wait.
    is_streamed = stream is not None and not fork.outputs
    if not is_streamed:
        os.close(wall)
    job = channel.receive()
    limits.apply(job.limits, other_processes=others)
    _prepare_environment(folder, "/tmp" if sandbox.isolated else os.path.join(folder, "tmp"))
    if isinstance(job, TexJob):
        from .tex_fill import fill

        os.makedirs(os.environ["TMPDIR"], exist_ok=True)
        fill(job)
    elif isinstance(job, InspectJob):
        from .inspection import inspect

        inspect(job, Path(folder), channel, stream)
    else:
        from .rendering import render

        os.makedirs(os.environ["TMPDIR"], exist_ok=True)
        render(job, Path(folder), channel, stream)
    if is_streamed and os.getpid() == process:  # not in a child that the scene has forked
        with suppress(OSError):  # the scene may have closed it
            os.write(wall, FINISHED)
    return 0


def _prepare_environment(folder: str, temporary: str) -> None:
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    os.environ.clear()
    os.environ.update(
        kept,
        HOME=folder,
        LANG="C.UTF-8",
        TMPDIR=temporary,
        # TeX: paranoid mode (access only below its current folder), and no wrapped messages.
        openin_any="p",
        # luaotfload reads its tables by absolute path. A scene's Python can read the same files.
        openin_any_lualatex="r",
        openout_any="p",
        shell_escape="f",
        TEXMFOUTPUT=folder,
        max_print_line="1000",
    )
    tempfile.tempdir = None
    sys.argv = ["scene.py"]
    sys.dont_write_bytecode = True
