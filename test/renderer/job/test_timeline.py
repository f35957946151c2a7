"""The plays that a render reports."""

from pathlib import Path

from client import Zygote, render_job

CODE = """from manim import *

class Demo(Scene):
    def grow(self, shape):
        self.play(
            GrowFromCenter(shape), run_time=0.5)

    def construct(self):
        self.grow(Circle())
        self.wait(0.5)
        self.next_section(skip_animations=True)
        self.play(FadeOut(Circle()))
        self.next_section()
        self.play(Square().animate.shift(UP), FadeIn(Dot()), Create(Line()), Write(Text("x")), run_time=0.2)
"""


def test_plays_have_the_time_of_the_video_and_the_line_of_the_author(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(CODE))
    (report,) = outcome.of_type("plays")
    assert report["plays"] == [
        {"line": 5, "shows": "GrowFromCenter(Circle)", "startSeconds": 0.0, "seconds": 0.5},
        {"line": 10, "shows": "wait", "startSeconds": 0.5, "seconds": 0.5},
        {
            "line": 14,
            "shows": "Square.animate, FadeIn(Dot), Create(Line) + 1",
            "startSeconds": 1.0,
            "seconds": 0.2,
        },
    ]
    assert outcome.result["seconds"] == 1.2
