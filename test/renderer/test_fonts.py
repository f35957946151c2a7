from pathlib import Path

import pytest

from client import Zygote, render_job
from sources import scene

WORDS = [
    "Ünï fi ﬁ",
    "Ελληνικά Русский",
    "数学 一二三 統計",
    "こんにちは カタカナ",
    "한국어 수학",
    "العربية",
    "עברית",
    "हिन्दी गणित",
    "বাংলা தமிழ் తెలుగు",
    "ไทย",
    "ქართული հայերեն አማርኛ",
    "😀🚀❤👍🎉🤔",
    "∑∫∂√∞≤→⇒∈ℝ½²",
]


def test_every_script_has_a_font(zygote: Zygote, tmp_path: Path) -> None:
    # For a character that no font has, Pango draws a box with the digits of its code point.
    body = f"""
        def shapes(text):
            return sum(shape.has_points() for shape in Text(text))

        assert shapes("A\\U0010fffd") == 1 + 1 + len("10FFFD")
        for word in {WORDS!r}:
            for part in word.split():
                assert 0 < shapes(part) <= len(part), part
        self.wait()
    """
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert outcome.result["type"] == "done", outcome.result


@pytest.mark.parametrize("font", ["Noto Sans", "Noto Serif", "DejaVu Sans Mono", "Latin Modern Roman"])
def test_fonts_can_be_selected_by_name(zygote: Zygote, tmp_path: Path, font: str) -> None:
    body = (
        f"import manimpango\nassert {font!r} in manimpango.list_fonts()\nself.add(Text('a', font={font!r}))"
    )
    assert zygote.run(tmp_path, render_job(scene(body))).result["type"] == "done"
