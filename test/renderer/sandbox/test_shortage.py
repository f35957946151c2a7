"""Jobs that fail while no process can be started. As another user: for root, the kernel has no limit."""

import os
import resource
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from client import Message, Zygote, children, fork_command, render_job
from sources import SQUARE, scene

UNUSED_USER = 54_322
LACKS = "no more processes or threads could be started (Resource temporarily unavailable)"
FAILS_LATER = "import time\ntime.sleep(1)\nraise ValueError"
WITH_MANY_THREADS = f"""
import threading, time
for _ in range(40): threading.Thread(target=time.sleep, args=(9,)).start()
{FAILS_LATER}
"""


def as_another_user(test: Callable[[Path], None]) -> None:
    """Run a test in a fork, with a folder of that user."""
    if os.getuid() != 0:
        pytest.skip("only root can become a user who has no other processes")
    said, says = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.setgroups([])
            os.setresgid(*[UNUSED_USER] * 3)
            os.setresuid(*[UNUSED_USER] * 3)
            with tempfile.TemporaryDirectory() as folder:
                test(Path(folder))
        except BaseException:
            os.write(says, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(says)
    with open(said) as outcome:
        failure = outcome.read()
    os.waitpid(child, 0)
    assert failure == ""


@contextmanager
def no_more_processes(zygote: Zygote) -> Iterator[None]:
    pid = zygote.process.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NPROC)
    resource.prlimit(pid, resource.RLIMIT_NPROC, (1, hard))
    yield
    resource.prlimit(pid, resource.RLIMIT_NPROC, (soft, hard))


def ended(zygote: Zygote, folder: Path, body: str, *, is_short: bool) -> Message:
    """The end of a scene during which no process can be started for a moment."""
    channel = zygote.start(folder, render_job(scene(body)))
    channel.wait_for(type="stage", stage="rendering")
    if is_short:
        with no_more_processes(zygote):
            time.sleep(0.5)
    outcome = zygote.finish(channel)
    assert outcome.result["type"] == "failed"
    assert outcome.ended["problem"] is None
    return outcome.ended


def test_a_shortage_while_a_job_runs_is_reported() -> None:
    def test(folder: Path) -> None:
        zygote = Zygote(environment={"XDG_CACHE_HOME": str(folder)})
        found = ended(zygote, folder, FAILS_LATER, is_short=True)
        assert found["shortage"] == LACKS
        assert ended(zygote, folder, FAILS_LATER, is_short=False)["shortage"] is None
        found = ended(zygote, folder, WITH_MANY_THREADS, is_short=True)
        assert found["shortage"] is None, "a scene with many threads may be the cause"
        assert zygote.close() == 0

    as_another_user(test)


def test_a_zygote_that_cannot_fork_a_job_reports_it_and_continues() -> None:
    def test(folder: Path) -> None:
        zygote = Zygote(environment={"XDG_CACHE_HOME": str(folder)})
        ahead = zygote.forked_ahead()
        with no_more_processes(zygote):
            os.kill(ahead, signal.SIGKILL)
            while children(zygote.process.pid):
                time.sleep(0.01)
            zygote.send(fork_command(folder))
            report = zygote.receive()
        assert (report["exitCode"], report["signal"], report["shortage"]) == (None, None, LACKS)
        assert "could not be forked" in report["problem"]
        assert zygote.run(folder, render_job(SQUARE)).result["type"] == "done"
        assert zygote.close() == 0

    as_another_user(test)
