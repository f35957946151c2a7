"""A forked job: an outer process that watches, and an inner one that runs the scene.

The outer process stays in the zygote's process-id namespace. It starts the init process of a new
namespace and then the inner process, which runs the scene. When that has ended, it kills init, and the
kernel kills all processes of the namespace. Where the kernel permits no namespaces, the zygote kills the
remaining processes.

All three may be forked before there is a job. They wait for its fork command, which the zygote writes to a
pipe.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NoReturn

from ..messages import EncodeJob, ForkCommand, ReadJob, parse_zygote_command
from ..protocol import JobChannel, connect_when_it_listens, listen
from ..sandbox import cgroup, export, kernel, limits, mounts, priority
from ..sandbox.layers import Sandbox
from ..sandbox.watch import FINISHED, Findings, watch
from . import scene_folder

_STREAMS = (0, 1, 2)
_PLAINLY = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_EXIT_BROKEN = 70  # a failure outside the scene; errors of the scene are reported, with exit code 0
# The inner process writes this to a pipe when it is in the sandbox, or else why it is not.
_WALLED = b"+"
_PROBLEM_BYTES_MAX = 1024
# How long the kernel may take to end the init of a namespace after the last other process.
_INIT_END_S = 0.25
# Room for a whole picture, so that the next one is converted while it is received. The kernel may allow less.
_FRAMES_BUFFER_BYTES = 4_194_304

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


def live(sandbox: Sandbox, zygote: int, commands: int, findings: int, entrance: int | None) -> NoReturn:
    """Wait for a fork command from the pipe `commands`, run its job, and write the findings of its watch.

    `findings`: a pipe; `entrance`: descriptor of the control group of the zygote's jobs, if there is one.
    Never returns: the caller is the zygote's code.
    """
    code = _EXIT_BROKEN
    try:
        kernel.set_name("waiting")
        _forget_zygote()
        _close_all_but(commands, findings, *([] if entrance is None else [entrance]))
        code = _outer(sandbox, zygote, commands, findings, entrance)
    except Exception as error:
        Findings(problem=f"{type(error).__name__}: {error}"[:_PROBLEM_BYTES_MAX]).write(findings)
    finally:
        os._exit(code)


def _outer(sandbox: Sandbox, zygote: int, commands: int, findings: int, entrance: int | None) -> int:
    os.chdir("/")
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
        _run_init()
    walled, wall = os.pipe2(os.O_CLOEXEC)
    passed_on, passing_on = os.pipe2(os.O_CLOEXEC)
    inner = os.fork()
    if inner == 0:
        code = _EXIT_BROKEN
        try:
            _close_all_but(passed_on, wall)
            code = _inner(sandbox, passed_on, wall)
        finally:
            os._exit(code)
    os.close(wall)
    os.close(passed_on)

    line = _read_all(commands)
    if not line:
        return _EXIT_BROKEN  # the zygote has ended
    kernel.set_name("watch")
    fork = _parsed(line)
    if entrance is not None:
        # Not earlier: after a job, all processes of the group are killed.
        cgroup.enter(entrance, os.getpid(), *([] if init is None else [init]), inner)
        os.close(entrance)
    # Opened before the job's root is mounted over it.
    place = os.open(fork.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    with open(passing_on, "wb") as pipe:
        pipe.write(line)

    # From then on this process sees the job's /proc and files.
    said = os.read(walled, len(_WALLED))
    is_walled = said == _WALLED
    if is_walled:
        found = watch(inner, fork, walled, isolated=sandbox.isolated)
    else:
        said += os.read(walled, _PROBLEM_BYTES_MAX)
        found = Findings(problem=said.decode(errors="replace") or "a job ended before it was in its sandbox")
    if found.finished and init is not None:
        os.kill(init, signal.SIGKILL)  # and with it all processes of the namespace
    found.write(findings)
    if found.reason or found.finished:
        os.kill(inner, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    if found.finished:
        code = 0
    elif init is not None and code == -signal.SIGKILL and not found.reason and _has_ended(init):
        Findings(problem="the init process of a job was killed", memory_bytes=found.memory_bytes).write(
            findings
        )
    if init is not None:
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)  # returns when every process of the namespace is dead
        if is_walled and export.export(fork.folder, place, fork.outputs) == "disk_full":
            Findings("disk_full", found.memory_bytes).write(findings)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    return code


def _run_init() -> NoReturn:
    """Run as init of the namespace. The kernel shields init from signals, so it must not be the scene."""
    try:
        kernel.die_with_parent()
        kernel.set_name("init")
        _close_all_but()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps adopted children
        while True:
            signal.pause()
    finally:
        os._exit(_EXIT_BROKEN)


def _has_ended(init: int) -> bool:
    """Whether init ends by itself. It does after the other processes of its namespace."""
    ended = select.poll()
    ended.register(descriptor := os.pidfd_open(init), select.POLLIN)
    try:
        return bool(ended.poll(_INIT_END_S * 1000))
    finally:
        os.close(descriptor)


def _forget_zygote() -> None:
    """Reset the zygote's signal handlers and its standard streams."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in _STREAMS:
        os.dup2(nothing, descriptor)


def _close_all_but(*kept: int) -> None:
    """Close all descriptors except the standard streams and those that are kept."""
    start = len(_STREAMS)
    for descriptor in sorted(kept):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _read_all(pipe: int) -> bytes:
    with open(pipe, "rb") as file:
        return file.read()


def _parsed(line: bytes) -> ForkCommand:
    command = parse_zygote_command(json.loads(line))
    assert isinstance(command, ForkCommand)
    return command


def _inner(sandbox: Sandbox, commands: int, wall: int) -> int:
    process = os.getpid()
    kernel.die_with_parent()
    kernel.forbid_speculation()
    os.setpgid(0, 0)  # own process group: kill(0) must not reach the outer process
    kernel.set_readable(True)  # the outer process reads its memory usage
    priority.die_first()
    line = _read_all(commands)
    if not line:
        return _EXIT_BROKEN  # the outer process has ended
    kernel.set_name("job")
    fork = _parsed(line)
    folder = fork.folder
    priority.yield_to_the_renderer(background=fork.background)
    try:
        # Both ends of the frames are connected before either process is in its sandbox, which allows no more.
        listener = listen(fork.frames) if fork.frames is not None and fork.is_encoder else None
        frames = None
        if fork.frames is not None and not fork.is_encoder:
            frames = connect_when_it_listens(fork.frames)
            frames.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _FRAMES_BUFFER_BYTES)
        earlier = _earlier_in(folder) if fork.is_encoder else None
        channel = JobChannel(fork.socket)  # connected last, since the job comes over it
        if listener is not None:
            frames = _accepted(listener, fork.frames)
        os.chdir("/")  # leave the job's folder, whose mount will be removed
        # In its own namespaces, a job's processes are counted separately.
        others = 0 if sandbox.isolated else limits.running_processes()
        files = sandbox.enter(folder, mounts.Space(fork.disk_bytes, fork.files), fork.files_folder)
    except OSError as error:
        os.write(wall, str(error).encode()[:_PROBLEM_BYTES_MAX])
        return _EXIT_BROKEN
    os.write(wall, _WALLED)
    # A render leaves nothing in its folder, so its end needs no wait.
    is_render = fork.frames is not None and not fork.is_encoder
    if not is_render:
        os.close(wall)
    job = channel.receive()
    limits.apply(job.limits, other_processes=others)
    _prepare_environment(folder, "/tmp" if sandbox.isolated else os.path.join(folder, "tmp"))
    if files is not None:
        scene_folder.give(files)
    if isinstance(job, EncodeJob):
        from ..encoder.encoding import encode

        assert frames is not None
        encode(job, Path(folder), channel, frames, earlier)
    elif isinstance(job, ReadJob):
        from .reads import read

        read(job, Path(folder), channel)
    else:
        from .rendering import render

        os.makedirs(os.environ["TMPDIR"], exist_ok=True)
        render(job, Path(folder), channel, frames)
    if is_render and os.getpid() == process:  # not in a child that the scene has forked
        with suppress(OSError):  # the scene may have closed it
            os.write(wall, FINISHED)
    return 0


def _earlier_in(folder: str) -> tuple[BinaryIO, BinaryIO] | None:
    """Open the index and the video from which an encoding copies frames; None if there are none."""
    try:
        return _opened(f"{folder}/earlier.index"), _opened(f"{folder}/earlier.mp4")
    except OSError:
        return None


def _opened(path: str) -> BinaryIO:
    return os.fdopen(os.open(path, _PLAINLY), "rb")


def _accepted(listener: socket.socket, path: str | None) -> socket.socket:
    """Return the only connection to a listening socket, whose name is removed."""
    with listener:
        connection, _ = listener.accept()
    assert path is not None
    os.unlink(path)
    return connection


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
