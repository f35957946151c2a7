"""The life of a forked job: outside, between zygote and scene, and inside, where the scene runs.

The outer process stays in the zygote's process-id namespace and does nothing but wait. It starts the
first process of a fresh namespace, whose end is the end of everything in it, and then the inner one,
where the scene runs; when that has ended, it ends the first. Where the kernel doesn't permit a
namespace, the outer process is the inner one, and the zygote kills whatever is left behind.
"""

import os
import resource
import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from . import kernel, limits
from .protocol import Fork, InspectJob, JobChannel

_EXIT_BROKEN = 70  # before or beside the scene; what the scene does wrong is reported, with exit code 0

# A renderer that was moved, with its TeX and its fonts, is found by these; the service sets them.
_PASSED_ON = (
    "PATH",
    "LD_LIBRARY_PATH",
    "FONTCONFIG_FILE",
    "FONTCONFIG_PATH",
    "TEXMFCNF",
    "TEXMFVAR",
    "OPENBLAS_NUM_THREADS",
)


def live(fork: Fork, zygote: int) -> NoReturn:
    """Be the job. Never returns, whatever happens: the caller is the zygote's own code."""
    code = _EXIT_BROKEN
    try:
        code = _outer(fork, zygote)
    finally:
        os._exit(code)


def _outer(fork: Fork, zygote: int) -> int:
    _forget_zygote()
    channel = JobChannel(fork.socket)
    kernel.set_readable(True)
    isolated = kernel.enter_namespaces()
    kernel.die_with_parent()
    if os.getppid() != zygote:
        return _EXIT_BROKEN  # it died before the line above
    if not isolated:
        return _inner(fork.folder, channel)
    init = os.fork()
    if init == 0:
        _be_first(channel)
    inner = os.fork()
    if inner == 0:
        code = _EXIT_BROKEN
        try:
            kernel.die_with_parent()
            code = _inner(fork.folder, channel)
        finally:
            os._exit(code)
    # The scene is of the same user and could otherwise act through this process's hands, outside.
    kernel.set_readable(False)
    channel.close()
    code = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
    os.kill(init, signal.SIGKILL)
    os.waitpid(init, 0)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    return code


def _be_first(channel: JobChannel) -> NoReturn:
    """Be the first process of a namespace: the kernel shields it from signals, which a scene must not be."""
    try:
        kernel.die_with_parent()
        kernel.set_readable(False)
        channel.close()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps what it adopts
        while True:
            signal.pause()
    finally:
        os._exit(_EXIT_BROKEN)


def _forget_zygote() -> None:
    """Drop the zygote's signals, session and descriptors."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])


def _inner(folder: str, channel: JobChannel) -> int:
    if os.getsid(0) != os.getpid():
        os.setsid()  # a group of its own: kill(0) must not reach the outer process
    kernel.drop_capabilities()
    os.chdir(folder)
    job = channel.receive()
    limits.apply(job.limits)
    _prepare_environment(folder)
    if isinstance(job, InspectJob):
        from .inspection import inspect

        inspect(job, Path(folder), channel)
    else:
        from .rendering import render

        os.makedirs(os.environ["TMPDIR"], exist_ok=True)
        render(job, Path(folder), channel)
    return 0


def _prepare_environment(folder: str) -> None:
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    temporary = os.path.join(folder, "tmp")
    os.environ.clear()
    os.environ.update(
        kept,
        HOME=folder,
        LANG="C.UTF-8",
        TMPDIR=temporary,
        # TeX: paranoid (it reads and writes below its current folder only), and no wrapped messages.
        openin_any="p",
        openout_any="p",
        shell_escape="f",
        TEXMFOUTPUT=folder,
        max_print_line="1000",
    )
    tempfile.tempdir = None
    sys.argv = ["scene.py"]
    sys.dont_write_bytecode = True
