import fcntl
import os
from pathlib import Path

import pytest

from client import MATERIAL, Zygote, name_of, render_job
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
                ctypes.CDLL(None).prctl(15, name)
                os.write(writer, b"x")
                signal.pause()
            os._exit(0)
        os.read(reader, 1)
        self.wait()
        if loop: signal.pause()
    """
    name = f"left-{os.getpid()}"
    source = scene(body, above=f"{ABOVE}loop = {how == 'killed'}\nname = {name.encode()!r}\n")
    channel = zygote.start(tmp_path, render_job(source))
    if how == "killed":
        channel.wait_for(type="progress")
        assert name in names_of_processes()
        zygote.send({"type": "kill", "job": "job"})
    outcome = zygote.finish(channel)
    assert outcome.ended["type"] == "ended"
    zygote.await_idle()
    assert name not in names_of_processes()


def names_of_processes() -> set[str | None]:
    return {name_of(int(name)) for name in os.listdir("/proc") if name.isdecimal()}


def test_jobs_cannot_signal_each_other_by_locks_on_shared_files(zygote: Zygote, tmp_path: Path) -> None:
    body = f"""
        for lock in (fcntl.flock, fcntl.lockf):
            with open('{MATERIAL}/shared') as file:
                lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    """
    (MATERIAL / "shared").touch()
    with open(MATERIAL / "shared", "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX)
        job = render_job(scene(body, above="import fcntl\n"))
        assert zygote.run(tmp_path, job).result["type"] == "done"
    body = f"""
        file = open('{MATERIAL}/shared')
        fcntl.flock(file, fcntl.LOCK_EX)
        self.wait()
        signal.pause()
    """
    channel = zygote.start(tmp_path, render_job(scene(body, above="import fcntl, signal\n")))
    channel.wait_for(type="progress")
    with open(MATERIAL / "shared") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    zygote.send({"type": "kill", "job": "job"})
    zygote.finish(channel)


def test_the_zygotes_memory_cannot_be_read(zygote: Zygote, tmp_path: Path) -> None:
    body = f"open('/proc/{zygote.process.pid}/mem', 'rb')"
    error = zygote.run(tmp_path, render_job(scene(body, above=ABOVE))).error
    assert error.startswith(("PermissionError", "FileNotFoundError"))


def test_a_job_has_no_capabilities(zygote: Zygote, tmp_path: Path) -> None:
    body = "raise ValueError([l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')])"
    error = zygote.run(tmp_path, render_job(scene(body))).error
    assert error.startswith("ValueError: ['0000000000000000', '0000000000000000', '0000000000000000'")
