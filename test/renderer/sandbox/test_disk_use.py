"""How files are counted when a job shares the disk, and that none can be hidden."""

import os
import time
from pathlib import Path

import pytest

from scene_renderer.messages import ForkCommand
from scene_renderer.sandbox import disk_use
from scene_renderer.sandbox.disk_use import Pass
from scene_renderer.sandbox.disk_watch import DiskWatch

TICK_S = 0.03


def look(folder: Path) -> Pass:
    return disk_use.look(str(folder), [], set(), 1000)


def watching(folder: Path) -> DiskWatch:
    limits = {"memory_bytes": 1, "disk_bytes": 100, "files": 3, "file_size_bytes": 50}
    fork = ForkCommand("job", str(folder), "", None, False, None, **limits, outputs={}, background=False)
    return DiskWatch(fork)


def test_a_pass_is_complete_if_no_folder_changes_before_the_next(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "file").write_text("text")
    time.sleep(TICK_S)
    first = look(tmp_path)
    assert first.is_complete_before(look(tmp_path))
    (tmp_path / "a" / "file").rename(tmp_path / "b" / "file")
    assert not first.is_complete_before(look(tmp_path))


def test_a_pass_right_after_a_change_is_not_complete(tmp_path: Path) -> None:
    elapsed_ns = disk_use._TICK_NS
    while elapsed_ns >= disk_use._TICK_NS:  # on a busy machine the pass may come too late
        begun_ns = time.time_ns()
        (tmp_path / "file").unlink(missing_ok=True)
        (tmp_path / "file").write_text("text")
        fresh = look(tmp_path)
        elapsed_ns = time.time_ns() - begun_ns
    assert not fresh.is_complete_before(look(tmp_path))


def test_a_pass_does_not_change_access_times(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    os.utime(tmp_path, (1, 1))  # old enough for an update even with relatime
    look(tmp_path)
    assert tmp_path.stat().st_atime == 1


def test_files_of_earlier_passes_count_until_a_pass_is_complete(tmp_path: Path) -> None:
    watch = watching(tmp_path)
    seen, missed = Pass({1: 90}, {9: 1}), Pass({2: 20}, {9: 2})
    assert watch._limit_of([missed]) is None
    assert watch._limit_of([seen, missed]) == "disk"
    assert watch._limit_of([Pass({1: 1, 2: 1}), Pass({3: 1, 4: 1})]) == "files"
    assert watch._limit_of([Pass({1: 60}), Pass({1: 60})]) is None, "the same file counts once"


def test_a_removed_and_mapped_file_counts_by_the_bytes_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = watching(tmp_path)
    monkeypatch.setattr("scene_renderer.sandbox.process_tree.written_bytes", lambda pid: 70)
    assert watch._limit_of([Pass({1: 60}, mapped={2})]) == "disk", "the number of bytes written is unknown"
    watch.note_written([])
    assert watch._limit_of([Pass({1: 40}, mapped={2})]) is None, "at most the file size limit"
    assert watch._limit_of([Pass({1: 60}, mapped={2})]) == "disk"
    assert watch._limit_of([Pass({1: 20}, mapped={2, 3})]) is None, "together at most the bytes written"
    assert watch._limit_of([Pass({1: 40}, mapped={2, 3})]) == "disk"
    assert watch._limit_of([Pass({1: 31}, is_vague=True)]) == "disk"
