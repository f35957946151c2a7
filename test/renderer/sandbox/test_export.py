"""Which files are exported from a job's own file system."""

import os
import socket
from pathlib import Path

import pytest

from client import Zygote
from scene_renderer.sandbox.export import export
from scene_renderer.video.frames import Cue, Sender
from sent import SIZE, encoded


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


def test_a_full_disk_is_reported_and_leaves_no_partial_file(encoder: Zygote, tmp_path: Path) -> None:
    if "namespaces" not in encoder.ready["layers"]:
        pytest.skip("a job has no file system of its own here")
    if os.getuid() != 0:
        pytest.skip("only root mounts a small disk")
    place = tmp_path / "small"
    place.mkdir()
    waiting = encoder.forked_ahead()  # before the disk is mounted
    assert os.system(f"mount -t tmpfs -o size=64k none {place}") == 0
    try:

        def send(connection: socket.socket) -> None:
            sender = Sender(connection)
            sender.form(SIZE)
            sender.frame(SIZE.new_picture(), (0, SIZE.height_px), 10)
            for _ in range(10):
                sender.cue(Cue(0, 1, "x" * 20_000))
            sender.end()

        outcome = encoded(encoder, place, send)
        assert outcome.ended["reason"] == "disk_full"
        assert encoder.forked_ahead() != waiting
        assert {path.name for path in place.iterdir()} == {"video.mp4"}
    finally:
        assert os.system(f"umount {place}") == 0
