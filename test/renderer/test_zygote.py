import os
import resource
import signal
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from client import TIMEOUT_S, Zygote, children, fork_command, jobs, name_of, render_job
from sources import SQUARE, scene

ENDLESS = scene("import time\nopen('running', 'w').close()\nwhile True: time.sleep(1)")


def test_ready_names_the_versions(zygote: Zygote) -> None:
    assert zygote.ready["type"] == "ready"
    assert zygote.ready["manim"] == version("manim")
    assert zygote.ready["python"] == sys.version.split()[0]
    assert set(zygote.ready["layers"]) | set(zygote.ready["problems"]) == {
        "namespaces",
        "landlock",
        "seccomp",
    }


def test_a_job_is_forked_and_its_end_reported(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(SQUARE))
    assert outcome.length == (20, 2.0)
    memory_bytes = outcome.ended.pop("memoryBytes")
    assert memory_bytes is None or memory_bytes > 1_000_000
    assert outcome.ended == {
        "type": "ended",
        "job": "job",
        "exitCode": 0,
        "signal": None,
        "reason": None,
        "problem": None,
        "shortage": None,
    }


def test_ping_is_answered_while_a_job_runs(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    channel.wait_for(type="stage", stage="rendering")
    zygote.send({"type": "ping"})
    assert zygote.receive() == {"type": "pong"}
    zygote.send({"type": "kill", "job": "job"})
    assert zygote.finish(channel).ended["signal"] == "SIGKILL"


def test_a_second_concurrent_job_is_refused(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    zygote.send(fork_command("/", "other"))
    assert "still runs" in zygote.receive()["message"]
    zygote.send({"type": "kill", "job": "other"})  # not the running job
    zygote.send({"type": "ping"})
    assert zygote.receive() == {"type": "pong"}
    zygote.send({"type": "kill", "job": "job"})
    assert zygote.finish(channel).ended["signal"] == "SIGKILL"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b'{"type":"sing"}',
        b'{"type":"fork","job":"a"}',
        b'{"type":"kill"}',
        b"\xff",
    ],
)
def test_a_malformed_command_gets_an_error(zygote: Zygote, line: bytes) -> None:
    zygote.send(line)
    assert zygote.receive()["type"] == "error"


def test_a_job_whose_socket_is_gone_ends(zygote: Zygote, tmp_path: Path) -> None:
    zygote.send(fork_command(tmp_path))
    ended = zygote.receive()
    assert (ended["exitCode"], "/none" in ended["problem"]) == (70, True)


@pytest.mark.parametrize(
    ("killed", "problem"),
    [
        ("watch", "the watch of a job ended by SIGKILL"),
        ("init", "the init process of a job was killed"),
        ("job", None),
    ],
)
def test_the_end_of_a_process_that_no_scene_can_reach_is_reported(
    zygote: Zygote, tmp_path: Path, killed: str, problem: str | None
) -> None:
    watch = zygote.forked_ahead()
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    channel.wait_for(type="stage", stage="rendering")
    [victim] = [pid for pid in (watch, *children(watch)) if name_of(pid) == killed]
    os.kill(victim, signal.SIGKILL)
    ended = zygote.finish(channel).ended
    assert (ended["signal"], ended["reason"], ended["problem"]) == ("SIGKILL", None, problem)


def test_a_job_whose_service_closes_the_socket_ends(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, render_job(scene("for _ in range(1000): self.wait()")))
    channel.wait_for(type="stage", stage="rendering")
    channel.socket.close()
    assert zygote.receive()["type"] == "ended"


def test_the_next_job_is_forked_ahead(zygote: Zygote, tmp_path: Path) -> None:
    waiting = zygote.forked_ahead()
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    channel.wait_for(type="stage", stage="rendering")
    assert children(zygote.process.pid) == [waiting], "it runs the job, and no other is forked meanwhile"
    zygote.send({"type": "kill", "job": "job"})
    assert zygote.finish(channel).ended["signal"] == "SIGKILL"
    assert zygote.forked_ahead() != waiting


def test_a_fork_that_dies_while_it_waits_is_replaced(zygote: Zygote, tmp_path: Path) -> None:
    os.kill(waiting := zygote.forked_ahead(), signal.SIGKILL)
    await_end(waiting)
    assert zygote.run(tmp_path, render_job(SQUARE)).result["type"] == "done"


def test_a_zygote_that_cannot_fork_ahead_forks_when_a_job_comes(tmp_path: Path) -> None:
    zygote = Zygote()
    zygote.forked_ahead()
    pid = zygote.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    channel = zygote.start(tmp_path, render_job(SQUARE))
    channel.wait_for(type="stage", stage="loading")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")) - 1, limits[1]))
    assert zygote.finish(channel).result["type"] == "done"
    time.sleep(0.1)  # longer than the zygote rests
    zygote.send({"type": "ping"})
    assert zygote.receive() == {"type": "pong"}
    assert children(pid) == []
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    (following := tmp_path / "following").mkdir()
    assert zygote.run(following, render_job(SQUARE)).result["type"] == "done"
    assert zygote.close() == 0


def test_no_job_is_forked_ahead_where_others_could_see_it(exposed_zygote: Zygote, tmp_path: Path) -> None:
    assert exposed_zygote.run(tmp_path, render_job(SQUARE)).result["type"] == "done"
    exposed_zygote.send({"type": "ping"})
    assert exposed_zygote.receive() == {"type": "pong"}
    assert children(exposed_zygote.process.pid) == []


@pytest.mark.parametrize("how", ["stdin ends", "killed"])
def test_a_waiting_fork_ends_with_its_zygote(how: str) -> None:
    zygote = Zygote()
    waiting = zygote.forked_ahead()
    below = [waiting, *children(waiting)]
    if how == "killed":
        os.kill(zygote.process.pid, signal.SIGKILL)
        zygote.process.wait()
    else:
        assert zygote.close() == 0
    for pid in below:
        await_end(pid)


def test_the_end_of_stdin_kills_the_job(tmp_path: Path) -> None:
    zygote = Zygote()
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    channel.wait_for(type="stage", stage="rendering")
    (job,) = jobs(zygote.process.pid)
    assert zygote.close() == 0
    assert channel.receive() is None
    assert not Path(f"/proc/{job}").exists()


def test_the_death_of_the_zygote_kills_the_job(tmp_path: Path) -> None:
    zygote = Zygote()
    channel = zygote.start(tmp_path, render_job(ENDLESS))
    channel.wait_for(type="stage", stage="rendering")
    os.kill(zygote.process.pid, signal.SIGKILL)
    zygote.process.wait()
    assert channel.receive() is None, "the job's end of the socket must be closed"


def test_a_job_inherits_nothing_from_the_zygote(zygote: Zygote, tmp_path: Path) -> None:
    source = """
import os, sys
standard = [os.readlink(f"/proc/self/fd/{number}") for number in range(3)]
others = [number for number in range(3, 256) if os.path.exists(f"/proc/self/fd/{number}")]
raise ValueError(standard, len(others), sorted(os.environ), sys.argv)
"""
    error = zygote.run(tmp_path, render_job(source)).error
    assert "['/dev/null', '/dev/null', '/dev/null'], 3, " in error, (
        "besides its sockets it has the pipe to its watch"
    )
    assert "PYTHONPATH" not in error
    assert "['scene.py']" in error


def test_a_job_sees_nothing_of_earlier_jobs(zygote: Zygote, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    zygote.run(first, render_job(scene("self.secret = 'xyzzy' * 3\nself.wait()")))
    body = """
        import gc
        found = [o for o in gc.get_objects() if isinstance(o, dict) and o.get("secret") == "xyz" "zy" * 3]
        raise ValueError(found)
    """
    assert zygote.run(second, render_job(scene(body))).error.startswith("ValueError: []")


def test_random_numbers_differ_from_job_to_job(zygote: Zygote, tmp_path: Path) -> None:
    source = (
        "import random\nimport numpy as np\nfrom manim import *\n"
        "class Demo(Scene):\n    pass\nraise ValueError(random.random(), np.random.random())\n"
    )
    errors = {zygote.run(tmp_path, render_job(source)).error for _ in range(2)}
    assert len(errors) == 2


def await_end(pid: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
