"""A process that has imported all modules that jobs need, and forks a child for each job.

Forks of a zygote that has imported Manim render scenes. Forks of another, the encoder, encode their frames:
it has imported less, and has a different memory layout, which a scene can't know.

It reads commands on stdin and reports on stdout (`protocol.py`). It never reads a scene, opens a job's folder
or connects to a job's socket, because the next job would inherit that data.

States: idle → running (a fork command) → idle (``ended``: all processes of the job are dead).
A job ends by itself, by a kill command, by exceeding a limit, or when stdin ends. When a job has finished,
its processes are killed, and ``ended`` doesn't wait for the kernel to free their memory and namespaces: the
next job does.

When idle, it forks the processes of the next job ahead, which wait in their namespaces: three forks of a
process with Manim take longer than the rest of a job's start. Without namespaces, it doesn't, because other
jobs could see them. When a file system is mounted afterwards, they are replaced, since they may not see it.
"""

import gc
import json
import os
import select
import selectors
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from .job import process
from .messages import ForkCommand, KillCommand, PingCommand, ZygoteReport, parse_zygote_command
from .protocol import encode_line
from .sandbox import cgroup, kernel, layers, process_tree, shortage
from .sandbox.layers import Sandbox
from .sandbox.priority import Session
from .sandbox.watch import Findings

_COMMAND_BYTES_MAX = 1_048_576
_THREADS_END_S = 10.0
# From the end of a job until the next is forked ahead: its results are stored first.
_REST_S = 0.02


def run(
    prepare: Callable[[], None],
    *,
    readable: Sequence[str],
    without: Sequence[str],
    session: Session,
    grouped: bool,
) -> None:
    """Prepare, report ``ready`` and serve until stdin ends.

    `prepare`: imports the modules that jobs need; `readable`: paths that jobs may read; `without`: sandbox
    layers to omit; `session`: the session of this process; `grouped`: jobs have a control group.
    """
    kernel.forbid_new_privileges()
    kernel.die_with_parent()
    kernel.adopt_orphans()
    # Each layer is tried in a fork; before the imports, which make forks slow.
    entrance = cgroup.entrance() if grouped else None
    found, problems = layers.find(readable, without)
    if not found.isolated:
        kernel.outlive_parent()  # to be able to kill jobs when stdin ends: no namespace does it
    if entrance is not None and (problem := cgroup.problem(entrance)):
        problems["cgroup"], entrance = problem, None
    os.environ.setdefault("HOME", "/nonexistent")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    gc.disable()  # imports make hardly any garbage, and looking for it takes up to a quarter of the time
    prepare()
    gc.enable()
    _await_single_thread()
    # Jobs run as the same user and must not be able to read or trace the zygote.
    kernel.set_readable(False)
    zygote = _Zygote(found, session, entrance)
    gc.collect()
    gc.freeze()
    _send(
        {
            "type": "ready",
            "manim": version("manim"),
            "python": sys.version.split()[0],
            "layers": sorted(found.layers),
            "problems": problems,
            "cgroup": entrance is not None,
        }
    )
    zygote.serve()


def prepare_renders(*, portrait: bool) -> None:
    """Import Manim for landscape or portrait frames."""
    # Manim reads manim.cfg in the current folder when it is imported.
    os.chdir(Path(__file__).parent / "portrait" if portrait else "/")
    from . import warm_up

    warm_up.run()
    os.chdir("/")


def prepare_reading() -> None:
    """Import Manim, and find out what the readers of sources look up."""
    prepare_renders(portrait=False)
    from .job import reads  # noqa: F401 (imported for its side effect)
    from .reading import warm_up

    warm_up.warm_up()


def prepare_encoding() -> None:
    """Import the modules that encode videos."""
    from .encoder import encoding  # noqa: F401 (imported for its side effect)


def _await_single_thread() -> None:
    """Wait until this is the only thread, or exit: a fork copies locks, but not the threads that hold them.

    Pango reads the fonts in a thread that ends without notification.
    """
    deadline = time.monotonic() + _THREADS_END_S
    while len(threads := os.listdir("/proc/self/task")) > 1:
        if time.monotonic() > deadline:
            sys.exit(f"scene_renderer: {len(threads)} threads after the imports; fork needs exactly one")
        time.sleep(0.005)


def _send(message: ZygoteReport) -> None:
    line = encode_line(message)
    while line:
        line = line[os.write(1, line) :]


class _Mounts:
    """The mounted file systems."""

    def __init__(self) -> None:
        self._list = open("/proc/self/mounts", "rb")  # noqa: SIM115 (as long as this process lives)
        self._changes = select.poll()
        self._changes.register(self._list, select.POLLPRI)

    def have_changed(self) -> bool:
        """Return whether any was mounted or unmounted since the last call."""
        return bool(self._changes.poll(0))


@dataclass
class _Process:
    """The outer process of a job: pipes for its command and from its watch."""

    pid: int
    commands: int
    findings: int


@dataclass
class _Running:
    """The running job, the first findings of its watch, and what the machine was short of meanwhile."""

    fork: ForkCommand
    process: _Process
    found: Findings | None = None
    killed: bool = False
    shortage: str | None = None

    def look(self) -> None:
        """Notice a shortage."""
        self.shortage = self.shortage or shortage.of_processes(self.process.pid)


class _Zygote:
    def __init__(self, sandbox: Sandbox, session: Session, entrance: int | None) -> None:
        self._sandbox = sandbox
        self._session = session
        self._entrance = entrance
        self._running: _Running | None = None
        self._dying: int | None = None  # the process of a finished job
        self._ahead: _Process | None = None  # the process of the next job
        self._fork_at: float | None = None  # when it will be forked
        self._mounts = _Mounts()
        self._commands = bytearray()
        self._woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def serve(self) -> None:
        """Execute commands until stdin ends, then kill the running job."""
        try:
            self._fork_later(0.0)
            while True:
                ready = {key.fd for key, _ in self._selector.select(self._pause_s())}
                if self._running:
                    self._running.look()
                if self._running and self._running.process.findings in ready:
                    self._hear_watch(self._running)
                if self._woken in ready:
                    with suppress(BlockingIOError):
                        os.read(self._woken, 4096)
                    self._reap()
                if 0 in ready and not self._read_commands():
                    return
                if self._pause_s() == 0.0:
                    self._fork_at = None
                    with suppress(OSError):  # too many processes or descriptors: the next job forks its own
                        self._ahead = self._fork()
        except BrokenPipeError:
            return  # the service has ended
        finally:
            process_tree.kill_children()

    def _read_commands(self) -> bool:
        """Execute received commands; False if stdin has ended."""
        chunk = os.read(0, 65_536)
        if not chunk:
            return False
        *lines, rest = (bytes(self._commands) + chunk).split(b"\n")
        self._commands = bytearray(rest)
        for line in lines:
            self._obey(line)
        if len(self._commands) > _COMMAND_BYTES_MAX:
            _send({"type": "error", "message": "the command is too long"})
            return False
        return True

    def _obey(self, line: bytes) -> None:
        try:
            command = parse_zygote_command(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            _send({"type": "error", "message": f"not understood: {type(error).__name__}: {error}"})
            return
        match command:
            case PingCommand():
                _send({"type": "pong"})
            case ForkCommand():
                self._begin(command, line)
            case KillCommand():
                self._kill(command.job)

    def _begin(self, fork: ForkCommand, line: bytes) -> None:
        if self._running:
            message = f"job {self._running.fork.job} still runs; {fork.job} was not forked"
            _send({"type": "error", "message": message})
            return
        if self._dying is not None:
            os.waitpid(self._dying, 0)
            self._dying = None
        self._session.lower(background=fork.background)
        if self._ahead and self._mounts.have_changed():
            self._end_ahead(self._ahead)
        try:
            process, self._ahead, self._fork_at = self._ahead or self._fork(), None, None
        except OSError as error:
            self._fork_later(_REST_S)
            problem = f"a job could not be forked: {error}"
            _send_end(fork.job, None, Findings(problem=problem), shortage.of_processes(os.getpid()))
            return
        with suppress(BrokenPipeError), open(process.commands, "wb") as pipe:  # if it has just died
            pipe.write(line)
        self._running = _Running(fork, process)
        self._selector.register(process.findings, selectors.EVENT_READ)

    def _fork_later(self, rest_s: float) -> None:
        if self._sandbox.isolated:
            self._fork_at = time.monotonic() + rest_s

    def _pause_s(self) -> float | None:
        """Return the time until the next job is forked ahead, or until the next look at the running one."""
        if self._fork_at is not None:
            return max(0.0, self._fork_at - time.monotonic())
        return shortage.LOOK_S if self._running else None

    def _end_ahead(self, ahead: _Process) -> None:
        """Kill the processes forked ahead; the next job forks its own."""
        process_tree.kill_children()
        os.close(ahead.commands)
        os.close(ahead.findings)
        self._ahead = None

    def _fork(self) -> _Process:
        self._mounts.have_changed()
        zygote = os.getpid()
        commanded, commands = os.pipe2(os.O_CLOEXEC)
        found, findings = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (commanded, commands, found, findings):
                os.close(descriptor)
            raise
        if pid == 0:
            process.live(self._sandbox, zygote, commanded, findings, self._entrance)
        os.close(commanded)
        os.close(findings)
        return _Process(pid, commands, found)

    def _kill(self, name: str) -> None:
        if self._running and self._running.fork.job == name:
            self._running.killed = True
            os.kill(self._running.process.pid, signal.SIGKILL)

    def _hear_watch(self, running: _Running) -> None:
        """Report the end of the running job if it has finished; otherwise wait until its process ends."""
        self._selector.unregister(running.process.findings)
        running.found = Findings.read(running.process.findings)
        if running.found and running.found.finished:
            self._dying = running.process.pid
            self._end(running, 0)

    def _reap(self) -> None:
        """Reap ended children. When the job's outer process has ended, kill the remaining processes."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            running = self._running
            if pid == self._dying:
                self._dying = None
                self._fork_later(_REST_S)
            elif self._ahead and pid == self._ahead.pid:
                self._end_ahead(self._ahead)
            elif running and pid == running.process.pid:
                process_tree.kill_children()
                if running.process.findings in self._selector.get_map():
                    self._selector.unregister(running.process.findings)
                running.found = Findings.read(running.process.findings) or running.found
                self._end(running, os.waitstatus_to_exitcode(status))
                self._fork_later(_REST_S)

    def _end(self, running: _Running, code: int) -> None:
        self._running = None
        os.close(running.process.findings)
        found = running.found or Findings()
        # Where jobs are not isolated, a scene could have killed it.
        if running.found is None and not running.killed and self._sandbox.isolated:
            found = Findings(problem=f"the watch of a job ended by {_how(code)}")
        if not found.finished:
            running.look()
        _send_end(running.fork.job, code, found, running.shortage)


def _send_end(name: str, code: int | None, found: Findings, shortage: str | None) -> None:
    is_exit = code is not None and code >= 0
    _send(
        {
            "type": "ended",
            "job": name,
            "exitCode": code if is_exit else None,
            "signal": None if code is None or is_exit else _signal_name(-code),
            "reason": found.reason,
            "memoryBytes": found.memory_bytes,
            "problem": found.problem,
            "shortage": shortage,
        }
    )


def _how(code: int) -> str:
    return _signal_name(-code) if code < 0 else f"exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal: only the first and last have names
        return f"signal {number}"
