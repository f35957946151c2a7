from pathlib import Path

import pytest

from client import Zygote, render_job
from sources import SQUARE, scene

ABOVE = "import ctypes, glob, os, signal, subprocess, sys, time\n"


@pytest.fixture(autouse=True)
def _needs_namespaces(zygote: Zygote) -> None:
    if "namespaces" not in zygote.ready["layers"]:
        pytest.skip("the kernel permits no process-id namespace here: a scene can reach the zygote")


@pytest.mark.parametrize(
    ("body", "code", "signal"),
    [
        ("os._exit(1)", 1, None),
        ("os.closerange(0, 1000)\nself.wait()", 70, None),
        ("ctypes.string_at(0)", None, "SIGSEGV"),
    ],
)
def test_the_end_of_a_job_is_reported_correctly(
    zygote: Zygote, tmp_path: Path, body: str, code: int | None, signal: str | None
) -> None:
    outcome = zygote.run(tmp_path, render_job(scene(body, above=ABOVE)))
    assert not outcome.of_type("done")
    assert (outcome.ended["exitCode"], outcome.ended["signal"]) == (code, signal)


@pytest.mark.parametrize(
    "body",
    [
        "os.kill(os.getppid(), 9)",
        "print('x' * 10_000_000)\nsys.stderr.write('x' * 10_000_000)",
        'os.write(1, b\'{"type":"ended","job":"job","exitCode":0}\\n\' * 1000)',
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(0, signal.SIGTERM)",
        "os.setpriority(os.PRIO_PROCESS, 0, 19)",
        "os.fork()",
        "os.rename('scene.py', 'gone.py')",
        "os.mkdir('captions.vtt')",
        "sys.modules.clear()",
    ],
)
def test_a_hostile_scene_harms_only_itself(zygote: Zygote, tmp_path: Path, body: str) -> None:
    outcome = zygote.run(tmp_path, render_job(scene(f"{body}\nself.wait()", above=ABOVE)))
    assert len(outcome.of_type("done")) + len(outcome.of_type("failed")) <= 1
    zygote.send({"type": "ping"})
    assert zygote.receive() == {"type": "pong"}
    other = tmp_path / "other"
    other.mkdir()
    assert zygote.run(other, render_job(SQUARE)).result["type"] == "done"


@pytest.mark.parametrize("how", ["ends", "killed"])
def test_processes_left_by_a_scene_are_dead_at_its_end(zygote: Zygote, tmp_path: Path, how: str) -> None:
    body = """
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                lock = os.open("lock", os.O_RDONLY)
                fcntl.flock(lock, fcntl.LOCK_EX)
                os.write(writer, b"x")
                signal.pause()
            os._exit(0)
        os.read(reader, 1)
        self.wait()
        if loop: signal.pause()
    """
    source = scene(body, above=f"{ABOVE}import fcntl\nloop = {how == 'killed'}\n")
    (tmp_path / "lock").touch()  # the job has the same file read-only
    channel = zygote.start(tmp_path, render_job(source))
    if how == "killed":
        channel.wait_for(type="progress")
        zygote.send({"type": "kill", "job": "job"})
    outcome = zygote.finish(channel)
    assert outcome.ended["type"] == "ended"
    zygote.await_idle()
    # The daemon held a lock, which is free only when the daemon is dead.
    import fcntl

    with open(tmp_path / "lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_zygotes_memory_cannot_be_read(zygote: Zygote, tmp_path: Path) -> None:
    body = f"open('/proc/{zygote.process.pid}/mem', 'rb')"
    error = zygote.run(tmp_path, render_job(scene(body, above=ABOVE))).error
    assert error.startswith(("PermissionError", "FileNotFoundError"))


def test_a_job_has_no_capabilities(zygote: Zygote, tmp_path: Path) -> None:
    body = "raise ValueError([l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')])"
    error = zygote.run(tmp_path, render_job(scene(body))).error
    assert error.startswith("ValueError: ['0000000000000000', '0000000000000000', '0000000000000000'")
