from pathlib import Path

import pytest

from client import MATERIAL, Zygote, render_job
from sound_file import write_tone
from sources import scene
from videos import boxes, streams

BODY = f"""
    self.add_sound("{MATERIAL}/tone.wav")
    self.play(Create(Square()))
    self.add_sound("{MATERIAL}/tone.wav", time_offset=0.2, gain=-3)
    self.wait()
"""


@pytest.mark.parametrize(("seconds", "rate_hz", "channels"), [(0.3, 22_050, 1), (9, 44_100, 2)])
def test_a_sound_becomes_a_track_as_long_as_the_video(
    zygote: Zygote, tmp_path: Path, seconds: float, rate_hz: int, channels: int
) -> None:
    write_tone(MATERIAL / "tone.wav", seconds, rate_hz, channels)
    assert zygote.run(tmp_path, render_job(scene(BODY))).result["type"] == "done"
    video, audio = streams(tmp_path / "video.mp4")
    assert (video["codec_name"], float(video["duration"]), video["nb_frames"]) == ("h264", 2, "20")
    assert audio["codec_name"] == "aac"
    assert float(audio["start_time"]) == 0
    assert 1 < float(audio["duration"]) <= 2.03
    names = boxes(tmp_path / "video.mp4")
    assert names.index(b"moov") < names.index(b"mdat")


def test_a_missing_sound_is_an_error_of_the_scene(zygote: Zygote, tmp_path: Path) -> None:
    error = zygote.run(tmp_path, render_job(scene("self.add_sound('none.wav')\nself.wait()"))).error
    assert "none.wav" in error
    assert "line 5" in error


def test_a_sound_that_is_not_wav_is_converted(zygote: Zygote, tmp_path: Path) -> None:
    write_tone(MATERIAL / "tone.wav", 1, 44_100, 1)
    (MATERIAL / "tone.wav").rename(MATERIAL / "tone.au")  # formats are detected by content
    body = BODY.replace("tone.wav", "tone.au")
    assert zygote.run(tmp_path, render_job(scene(body))).result["type"] == "done"
    assert len(streams(tmp_path / "video.mp4")) == 2
