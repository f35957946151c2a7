"""Which files are exported from a job's own file system."""

import os
from pathlib import Path

import pytest

from client import Zygote, render_job
from scene_renderer.sandbox.export import export
from sources import scene


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    return source, target


def run(source: Path, target: Path, outputs: dict[str, int]) -> str:
    place = os.open(target, os.O_PATH | os.O_DIRECTORY)
    try:
        return export(str(source), place, outputs)
    finally:
        os.close(place)


def test_only_requested_files_are_exported(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "video").write_bytes(b"video" * 1000)
    (source / "other").write_bytes(b"other")
    assert run(source, target, {"video": 5000, "captions": 10}) == "complete"
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {"video": b"video" * 1000}
    assert (target / "video").stat().st_mode & 0o777 == 0o600


def test_links_folders_and_pipes_are_not_exported(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "link").symlink_to("/etc/passwd")
    (source / "twice").write_text("twice")
    (source / "second name").hardlink_to(source / "twice")
    (source / "folder").mkdir()
    os.mkfifo(source / "pipe")
    assert run(source, target, dict.fromkeys(("link", "twice", "folder", "pipe"), 100)) == "complete"
    assert list(target.iterdir()) == []


def test_a_link_at_the_path_of_an_output_is_replaced(folders: tuple[Path, Path]) -> None:
    source, target = folders
    (source / "video").write_text("video")
    (other := source / "other").write_text("other")
    (target / "video").symlink_to(other)
    assert run(source, target, {"video": 100}) == "complete"
    assert (target / "video").read_text() == "video"
    assert other.read_text() == "other"


def test_a_file_over_the_limit_is_exported_as_its_size_without_content(folders: tuple[Path, Path]) -> None:
    source, target = folders
    with open(source / "video", "wb") as file:
        file.truncate(1 << 40)
    assert run(source, target, {"video": 1 << 20}) == "complete"
    assert (target / "video").stat().st_size == (1 << 20) + 1
    assert (target / "video").stat().st_blocks == 0


def test_a_full_disk_is_reported_and_leaves_no_partial_file(zygote: Zygote, tmp_path: Path) -> None:
    if "namespaces" not in zygote.ready["layers"]:
        pytest.skip("a job has no file system of its own here")
    if os.getuid() != 0:
        pytest.skip("only root mounts a small disk")
    place = tmp_path / "small"
    place.mkdir()
    waiting = zygote.forked_ahead()  # before the disk is mounted
    assert os.system(f"mount -t tmpfs -o size=64k none {place}") == 0
    try:
        code = scene("self.add_subcaption('x' * 200_000, duration=1)\nself.wait()")
        outcome = zygote.run(place, render_job(code))
        assert outcome.ended["reason"] == "disk_full"
        assert zygote.forked_ahead() != waiting
        assert [path.name for path in place.iterdir() if path.name != "video.mp4"] == []
    finally:
        assert os.system(f"umount {place}") == 0
