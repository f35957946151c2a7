import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from client import RENDERER

PORTRAIT = RENDERER / "scene_renderer" / "portrait"


def recorded(side: str, width: int, height: int, fps: int, folder: Path) -> dict[str, list[str]]:
    """Run record_frames.py in a folder whose manim.cfg, if any, counts for both sides."""
    script = Path(__file__).with_name("record_frames.py")
    output = subprocess.check_output(
        [sys.executable, script, side, str(width), str(height), str(fps)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(RENDERER), "HOME": "/nonexistent"},
    )
    return dict(json.loads(line) for line in output.splitlines())


@pytest.mark.parametrize(
    ("width", "height", "fps", "portrait"),
    [(192, 108, 10, False), (854, 480, 3, False), (90, 160, 7, True)],
)
def test_the_frames_are_manims(tmp_path: Path, width: int, height: int, fps: int, portrait: bool) -> None:
    folder = PORTRAIT if portrait else tmp_path
    expected = recorded("manim", width, height, fps, folder)
    actual = recorded("renderer", width, height, fps, folder)
    assert len(expected) == 9
    for scene, frames in expected.items():
        assert frames, scene
        assert len(actual[scene]) == len(frames), scene
        assert actual[scene] == frames, scene
