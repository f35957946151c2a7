"""What a render reports of the place where it is, which a time limit then says."""

import re
from pathlib import Path

import pytest

from client import Zygote, list_job, render_job
from sources import scene

CALLS = (
    r"\n  scene\.py:8 in construct: forever\(\)\n  scene\.py:4 in forever: while True: time\.sleep\(0\.01\)$"
)
ENDLESS_TEX = r"""Tex(r"\def\a{\a}\a")"""
FOREVER = "import time\ndef forever():\n    while True: time.sleep(0.01)\n"


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (
            "import time\nwhile True: time.sleep(0.01)\n",
            r"the file was being loaded\.\nline 2: while True: time",
        ),
        (scene(ENDLESS_TEX), r"TeX was typesetting\.\nline 5: Tex\(r\"\\def\\a\{\\a\}\\a\"\)$"),
        (
            scene("forever()", above=FOREVER),
            rf"the scene's code ran before its first play\.\nline 4: .*{CALLS}",
        ),
        (
            scene("self.wait()\nwhile True: pass"),
            r"the scene's code ran after play 1\.\nline 6: while True: pass$",
        ),
        (
            scene(
                "self.wait(0.1)\nself.play(Create(Square().add_updater(slow)))",
                above=FOREVER.replace("()", "(_)"),
            ),
            r"the scene was in play 2, Create\(Square\)\.\nline \d: while True: time\.sleep",
        ),
    ],
    ids=["loading", "TeX", "calls", "after a play", "play"],
)
def test_a_render_reports_where_it_is(zygote: Zygote, tmp_path: Path, source: str, place: str) -> None:
    channel = zygote.start(tmp_path, render_job(source.replace("slow", "forever")))
    texts = [channel.wait_for(type="place")["text"] for _ in range(3)]
    zygote.send({"type": "kill", "job": "job"})
    zygote.finish(channel)
    assert re.match(r"For the last [12] s, ", texts[-1])
    assert re.search(place, texts[-1]), texts[-1]


def test_a_listing_reports_where_it_is(zygote: Zygote, tmp_path: Path) -> None:
    channel = zygote.start(tmp_path, list_job("while True:\n    pass\n"))
    assert "the file was being loaded.\nline " in channel.wait_for(type="place")["text"]
    zygote.send({"type": "kill", "job": "job"})
    zygote.finish(channel)
