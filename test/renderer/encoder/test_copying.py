"""Frames that are copied from an earlier video of a scene."""

import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import pytest

from edited import FORM, Shot, encoded, picture, play
from scene_renderer.encoder import slices
from scene_renderer.encoder.index import Index, index_of
from scene_renderer.video.frames import Form

PLAYS = [play(1000, 240), *(play(200 * number, 130) for number in range(1, 5))]
FRAMES = 760


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the video of `PLAYS` and its index."""
    folder = tmp_path_factory.mktemp("first") / "video"
    encoded(folder, PLAYS)
    return folder


def frames_of(video: Path) -> list[npt.NDArray[Any]]:
    """The luma of all frames; errors and gaps are not concealed."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        stream.codec_context.options = {"err_detect": "explode"}
        return [frame.to_ndarray()[: FORM.height_px, : FORM.width_px] for frame in container.decode(stream)]


def keys_of(video: Path) -> list[int]:
    """The numbers of the key frames; neighbouring ones differ in their picture ids."""
    keys: dict[int, int] = {}
    with av.open(str(video)) as container:
        extradata = container.streams.video[0].codec_context.extradata
        assert extradata
        length = int.from_bytes(extradata[6:8])
        bits = slices.frame_number_bits(slices.START_CODE + extradata[8 : 8 + length])
        for number, packet in enumerate(packet for packet in container.demux(video=0) if packet.size):
            (unit,) = slices.units_of_stored(bytes(packet))
            if slices.type_of(unit) == slices.KEY_SLICE:
                keys[number] = slices.key_number(unit, bits)
                assert keys[number] != keys.get(number - 1)
    return [*keys]


def assert_shows(video: Path, plays: Sequence[Sequence[Shot]]) -> None:
    numbers = [number for shots in plays for number, count in shots for _ in range(count)]
    frames = frames_of(video)
    assert len(frames) == len(numbers)
    for frame, number in zip(frames, numbers, strict=True):
        assert np.abs(frame.astype(int) - picture(number)[: FORM.height_px]).mean() < 2
    command = ["ffmpeg", "-v", "warning", "-err_detect", "explode", "-i", str(video), "-f", "null", "-"]
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""


# The plays after an edit, and at least how many of their frames are copies.
EDITS: dict[str, tuple[list[list[Shot]], int]] = {
    "nothing": (PLAYS, FRAMES),
    "the last play": ([*PLAYS[:-1], play(2000, 130)], FRAMES - 130),
    "the first play": ([play(2000, 240), *PLAYS[1:]], FRAMES - 240),
    "a play in the middle": ([*PLAYS[:3], play(2000, 130), *PLAYS[4:]], FRAMES - 130),
    "a play inserted": ([*PLAYS[:2], play(2000, 50), *PLAYS[2:]], FRAMES),
    "a play removed": ([*PLAYS[:2], *PLAYS[3:]], FRAMES - 130),
    "two plays exchanged": ([PLAYS[0], PLAYS[2], PLAYS[1], *PLAYS[3:]], FRAMES),
    "one frame": ([*PLAYS[:2], [*PLAYS[2][:60], (2999, 1), *PLAYS[2][61:]], *PLAYS[3:]], FRAMES - 70),
    "a wait inserted": ([*PLAYS[:2], [(0, 130)], *PLAYS[2:]], FRAMES),
    "everything": ([play(3000 + 300 * number, 130) for number in range(6)], 0),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.sampled(8, deep=8)
def test_frames_that_an_edit_leaves_as_they_are_are_copied(first: Path, tmp_path: Path, edit: str) -> None:
    plays, least = EDITS[edit]
    copied = encoded(tmp_path / "after", plays, first)
    kept = {number for shots in PLAYS for number, _ in shots}
    equal = sum(count for shots in plays for number, count in shots if number in kept)
    assert least <= copied <= equal
    assert_shows(tmp_path / "after" / "video.mp4", plays)


def test_copies_of_copies_are_the_same_packets(first: Path, tmp_path: Path) -> None:
    before = first
    for name in "abc":
        assert encoded(tmp_path / name, PLAYS, before) == FRAMES
        before = tmp_path / name
        for file in ("video.mp4", "video.index"):
            assert (before / file).read_bytes() == (first / file).read_bytes()


def test_a_short_run_is_encoded(tmp_path: Path) -> None:
    encoded(tmp_path / "before", [[(0, 11), *play(1, 120)], play(200, 120)])
    copied = encoded(
        tmp_path / "after", [[(0, 11), *play(400, 120)], [(0, 11), *play(600, 120)]], tmp_path / "before"
    )
    assert copied == 0


def test_of_equal_runs_the_next_is_copied(tmp_path: Path) -> None:
    plays = [[*play(100, 120), *play(300 * number, 20)] for number in range(1, 6)]
    encoded(tmp_path / "before", plays)
    assert encoded(tmp_path / "after", [play(5000, 20), *plays], tmp_path / "before") == 700


def random_video(seed: int) -> list[list[Shot]]:
    """Plays of moving and still pictures, some of which recur."""
    chance = random.Random(seed)
    plays: list[list[Shot]] = []
    for number in range(chance.randrange(2, 6)):
        shots = play(200 * number + 1, chance.randrange(1, 60))
        for _ in range(chance.randrange(4)):
            shots.insert(
                chance.randrange(len(shots)), (chance.choice([0, 7, 8]), chance.choice([1, 2, 40, 130]))
            )
        plays.append(shots)
    return plays


def changed(plays: list[list[Shot]], place: int) -> list[list[Shot]]:
    """The plays with another picture in one frame."""
    edited: list[list[Shot]] = []
    at = 0
    for shots in plays:
        edited.append([])
        for number, count in shots:
            if at <= place < at + count:
                parts = [(number, place - at), (30_000, 1), (number, at + count - place - 1)]
                edited[-1] += [part for part in parts if part[1]]
            else:
                edited[-1].append((number, count))
            at += count
    return edited


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.sampled(20, deep=10)
def test_videos_can_be_stitched_at_every_key_frame(tmp_path: Path, seed: int) -> None:
    plays = random_video(seed)
    encoded(tmp_path / "before", plays)
    frames = sum(count for shots in plays for _, count in shots)
    neighbours = 0
    for key in keys_of(tmp_path / "before" / "video.mp4"):
        for place in {max(0, key - 1), key, min(key + 1, frames - 1)}:
            edited = changed(plays, place)
            encoded(tmp_path / "after", edited, tmp_path / "before")
            assert_shows(tmp_path / "after" / "video.mp4", edited)
            keys = keys_of(tmp_path / "after" / "video.mp4")
            neighbours += any(after - before == 1 for before, after in pairwise(keys))
            assert encoded(tmp_path / "again", edited, tmp_path / "after") == frames
            shutil.rmtree(tmp_path / "after")
            shutil.rmtree(tmp_path / "again")
    assert neighbours or frames < 200


def with_byte(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGES: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "no index": ("video.index", lambda data: b""),
    "another magic number": ("video.index", lambda data: with_byte(data, 3)),
    "other settings": ("video.index", lambda data: with_byte(data, 12)),
    "another seed": ("video.index", lambda data: with_byte(data, 41)),
    "another number of frames": ("video.index", lambda data: with_byte(data, 51)),
    "another number of runs": ("video.index", lambda data: with_byte(data, 55)),
    "the most frames": ("video.index", lambda data: data[:48] + b"\xff" * 8 + data[56:]),
    "a cut index": ("video.index", lambda data: data[:-1]),
    "a long index": ("video.index", lambda data: data + bytes(1)),
    "no video": ("video.mp4", lambda data: b""),
    "a cut video": ("video.mp4", lambda data: data[: len(data) // 20]),
    "another video": ("video.mp4", lambda data: bytes(len(data))),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.sampled(8, deep=8)
def test_damaged_files_are_not_copied_from(first: Path, tmp_path: Path, damage: str) -> None:
    shutil.copytree(first, tmp_path / "before")
    name, change = DAMAGES[damage]
    file = tmp_path / "before" / name
    file.write_bytes(change(file.read_bytes()))
    assert encoded(tmp_path / "after", PLAYS, tmp_path / "before") == 0
    assert_shows(tmp_path / "after" / "video.mp4", PLAYS)


def test_a_video_that_is_cut_is_copied_up_to_there(first: Path, tmp_path: Path) -> None:
    shutil.copytree(first, tmp_path / "before")
    video = tmp_path / "before" / "video.mp4"
    video.write_bytes(video.read_bytes()[: video.stat().st_size // 2])
    assert 100 <= encoded(tmp_path / "after", PLAYS, tmp_path / "before") <= 600
    assert_shows(tmp_path / "after" / "video.mp4", PLAYS)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.sampled(10, deep=8)
def test_a_changed_byte_is_never_copied(first: Path, tmp_path: Path, seed: int) -> None:
    shutil.copytree(first, tmp_path / "before")
    file = tmp_path / "before" / ("video.mp4" if seed % 2 else "video.index")
    data = file.read_bytes()
    file.write_bytes(with_byte(data, random.Random(seed).randrange(len(data))))
    encoded(tmp_path / "after", PLAYS, tmp_path / "before")
    assert_shows(tmp_path / "after" / "video.mp4", PLAYS)


@pytest.mark.parametrize("form", [Form(160, 90, 60, "yuv420p"), Form(320, 180, 30, "yuv420p")])
def test_a_video_of_another_form_is_not_copied_from(tmp_path: Path, form: Form) -> None:
    encoded(tmp_path / "before", PLAYS, form=form)
    assert encoded(tmp_path / "after", PLAYS, tmp_path / "before") == 0


def test_an_index_is_read_as_it_was_written(first: Path) -> None:
    data = (first / "video.index").read_bytes()
    index = Index.parse(data)
    assert len(index.frames) == FRAMES
    assert index.runs["first"].tolist() == keys_of(first / "video.mp4")
    assert index.to_bytes() == data
    pictures = [bytes(digest) for digest in index.frames["digest"]]
    assert index_of(first / "video.mp4", index.settings, index.seed, pictures).to_bytes() == data
