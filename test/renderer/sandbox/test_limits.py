import os
import time
from pathlib import Path

import pytest

from client import Zygote, render_job
from scene_renderer.sandbox import process_tree
from sources import scene


@pytest.mark.parametrize("fps", [36_001, 10**30])
def test_a_frame_rate_over_the_limit_fails_immediately(zygote: Zygote, tmp_path: Path, fps: int) -> None:
    error = zygote.run(tmp_path, render_job(scene("self.wait()"), fps=fps)).error
    assert str(fps) in error
    assert "36000 frames" in error


@pytest.mark.parametrize(
    "body",
    [
        "self.wait(4)",
        "self.wait(1e15)",
        "self.wait(float('inf'))",
        "self.add(Dot().add_updater(lambda m, dt: m.shift(dt * RIGHT)))\nself.wait(1e15)",
        "self.play(Create(Square(), run_time=1e15))",
        "for _ in range(4): self.wait()",
        "for _ in range(4):\n    try: self.play(Create(Square()))\n    except Exception: pass",
    ],
)
def test_a_video_over_the_limit_fails(zygote: Zygote, tmp_path: Path, body: str) -> None:
    error = zygote.run(tmp_path, render_job(scene(body), limits={"frames": 30})).error
    assert "limit of 30 frames" in error


def test_a_video_at_the_limit_is_accepted(zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(scene("for _ in range(3): self.wait()"), limits={"frames": 30})
    assert zygote.run(tmp_path, job).result["frames"] == 30


def test_a_long_wait_ended_by_its_condition_is_accepted(zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(scene("self.wait_until(lambda: self.time > 0.5, max_time=3600)"), limits={"frames": 30})
    assert zygote.run(tmp_path, job).result["type"] == "done"


def test_a_scene_without_room_for_the_threads_that_draw_is_drawn(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        stay = threading.Event()
        threading.stack_size(65536)
        try:
            for _ in range(100): threading.Thread(target=stay.wait, daemon=True).start()
        except RuntimeError: pass
        self.play(Create(Square()))
    """
    job = render_job(scene(body, above="import threading"), limits={"processes": 20})
    assert zygote.run(tmp_path, job).result["type"] == "done"


def test_a_video_of_too_many_bytes_fails(zygote: Zygote, tmp_path: Path) -> None:
    job = render_job(scene("self.play(Create(NumberPlane()), run_time=10)"), limits={"outputBytes": 2000})
    assert zygote.run(tmp_path, job).error.startswith("The video is larger than the limit of 0 MiB.")


def test_too_large_a_file_fails(zygote: Zygote, tmp_path: Path) -> None:
    body = "file = open('big', 'wb', buffering=0)\nfor _ in range(10): file.write(bytes(500_000))"
    outcome = zygote.run(tmp_path, render_job(scene(body), limits={"fileSizeBytes": 1_000_000}))
    assert "limit for files" in outcome.error


def test_too_much_address_space_is_a_memory_error(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(scene("bytearray(5 << 30)")))
    assert (
        outcome.error
        == "MemoryError: the scene needs more memory than the limit.\nline 5: bytearray(5 << 30)"
    )


@pytest.mark.parametrize(
    "body",
    [
        "hoard = []\nwhile True: hoard.append(b'x' * (10 << 20))",
        "for _ in range(8):\n    if os.fork() == 0: break\nhoard = b'x' * (100 << 20)\nsignal.pause()",
    ],
    ids=["one process", "several processes"],
)
def test_too_much_memory_ends_the_job(zygote: Zygote, tmp_path: Path, body: str) -> None:
    source = scene(body, above="import os, signal\n")
    outcome = zygote.run(tmp_path, render_job(source), memory_bytes=500 << 20)
    assert outcome.ended["reason"] == "memory"
    assert outcome.ended["signal"] == "SIGKILL"
    zygote.await_idle()


def test_memory_of_the_newest_processes_is_counted_first() -> None:
    pids = process_tree.in_namespace()
    assert os.getpid() in pids
    assert 1 not in pids
    assert pids == sorted(pids, reverse=True)


def test_memory_shared_by_processes_counts_once(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        shared = b'x' * (100 << 20)
        for _ in range(8):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
        time.sleep(0.7)
        self.wait()
    """
    source = scene(body, above="import os, time\n")
    outcome = zygote.run(tmp_path, render_job(source), memory_bytes=500 << 20)
    assert outcome.ended["reason"] is None
    assert outcome.result["type"] == "done"


HOARDS = {
    "named": "for n in range(10): open(f'{n}', 'wb').write(bytes(5 << 20))",
    "removed": """
for n in range(10):
    f = open('f', 'wb')
    os.remove('f')
    kept.append(f)
    f.write(bytes(5 << 20))
""",
    "removed and mapped": """
f = open('f', 'w+b')
f.truncate(40 << 20)
kept.append(mmap.mmap(f.fileno(), 40 << 20))
os.remove('f')
f.close()
kept[0][:] = bytes(40 << 20)
""",
    "removed and mapped by a page each": """
for n in range(10):
    f = open('f', 'w+b')
    f.write(bytes(5 << 20))
    kept.append(mmap.mmap(f.fileno(), 4096))
    os.remove('f')
    f.close()
time.sleep(30)
""",
}


def hoarding(body: str) -> str:
    return scene(f"kept = []\n{body}", above="import mmap, os, time\n")


@pytest.mark.parametrize("body", HOARDS.values(), ids=HOARDS)
def test_the_kernel_limits_the_total_size_of_files(zygote: Zygote, tmp_path: Path, body: str) -> None:
    if "namespaces" not in zygote.ready["layers"]:
        pytest.skip("a job has no file system of its own here")
    started = time.monotonic()
    job = render_job(hoarding(body), limits={"diskBytes": 30 << 20})
    outcome = zygote.run(tmp_path, job, disk_bytes=30 << 20)
    failed = [report["error"] for report in outcome.of_type("failed")]
    said = failed and failed[0].startswith("The scene's files were larger than the limit of 30 MiB together.")
    assert said or outcome.ended["reason"] == "disk" or outcome.ended["signal"] == "SIGBUS"
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("body", HOARDS.values(), ids=HOARDS)
def test_a_total_size_of_files_over_the_limit_ends_the_job(
    exposed_zygote: Zygote, tmp_path: Path, body: str
) -> None:
    source = hoarding(f"{body}\ntime.sleep(30)")
    outcome = exposed_zygote.run(tmp_path, render_job(source), disk_bytes=30 << 20)
    assert (outcome.ended["reason"], outcome.ended["signal"]) == ("disk", "SIGKILL")


def test_too_many_files_fail_or_end_the_job(any_zygote: Zygote, tmp_path: Path) -> None:
    source = scene("for n in range(2100): open(str(n), 'w').close()\ntime.sleep(30)", above="import time\n")
    assert any_zygote.run(tmp_path, render_job(source), files=2000).ended["reason"] == "files"


def test_folders_that_are_too_deep_end_the_job(exposed_zygote: Zygote, tmp_path: Path) -> None:
    body = "for _ in range(70):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(30)"
    outcome = exposed_zygote.run(tmp_path, render_job(scene(body, above="import os, time\n")))
    assert outcome.ended["reason"] == "files"


def test_memory_is_counted_after_the_main_thread_has_ended(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        if os.fork() == 0:
            threading.Thread(target=lambda: (hoard.append(b'x' * (600 << 20)), time.sleep(30))).start()
            ctypes.CDLL(None).syscall(93 if os.uname().machine == 'aarch64' else 60, 0)
        time.sleep(30)
    """
    source = scene(body, above="import ctypes, os, threading, time\nhoard = []\n")
    assert zygote.run(tmp_path, render_job(source), memory_bytes=500 << 20).ended["reason"] == "memory"


def test_files_in_memory_count_as_memory(zygote: Zygote, tmp_path: Path) -> None:
    if "namespaces" not in zygote.ready["layers"]:
        pytest.skip("there are no files in memory for a job here")
    body = "open('/tmp/a', 'wb').write(bytes(60 << 20))\nopen('/dev/shm/a', 'wb').write(bytes(60 << 20))"
    source = scene(f"{body}\ntime.sleep(30)", above="import time\n")
    outcome = zygote.run(tmp_path, render_job(source), memory_bytes=120 << 20)
    assert outcome.ended["reason"] == "memory"


def test_a_job_can_be_killed_while_it_is_counted(any_zygote: Zygote, tmp_path: Path) -> None:
    body = """
        for number in range(3000): open(str(number), 'w').close()
        while True:
            if os.fork() == 0:
                hoard = b'x' * (20 << 20)
                os._exit(0)
            os.wait()
    """
    for attempt in range(10):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        channel = any_zygote.start(folder, render_job(scene(body, above="import os\n")))
        channel.wait_for(type="stage", stage="rendering")
        time.sleep(attempt * 0.022)  # the watch runs every 0.2 seconds
        any_zygote.send({"type": "kill", "job": "job"})
        ended = any_zygote.finish(channel).ended
        assert (ended["signal"], ended["exitCode"], ended["reason"]) == ("SIGKILL", None, None)
        any_zygote.await_idle()


def test_page_tables_count_as_memory(any_zygote: Zygote, tmp_path: Path) -> None:
    body = """
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        for number in range(40_000):
            place = libc.mmap((1 + number) << 30, 4096, 1, 0x100022, -1, 0)
            if place == (1 + number) << 30:
                ctypes.string_at(place, 1)
        time.sleep(30)
    """
    source = scene(body, above="import ctypes, time\n")
    assert any_zygote.run(tmp_path, render_job(source), memory_bytes=250 << 20).ended["reason"] == "memory"
