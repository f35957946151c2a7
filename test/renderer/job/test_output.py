"""Output of a scene, and warnings."""

from pathlib import Path

from client import Outcome, Zygote, list_job, render_job
from sources import SQUARE, scene


def printed(outcome: Outcome) -> str:
    return "".join(report["text"] for report in outcome.of_type("output"))


def test_prints_and_warnings_are_reported_in_their_order(zygote: Zygote, tmp_path: Path) -> None:
    body = """
        import sys, warnings
        print("half ", end="")
        print("a line", 数 := 7)
        warnings.warn("careful")
        logger.warning("from %s", "Manim")
        logger.info("not shown")
        self.wait(0.2)
        sys.stdout.buffer.write(b"bytes \\xff\\n")
        print("\\ud800", file=sys.stderr, end="")
    """
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert outcome.result["type"] == "done"
    assert printed(outcome) == (
        "half a line 7\nscene.py:8: UserWarning: careful\nWARNING: from Manim\nbytes \ufffd\n\\ud800"
    )


def test_output_before_a_failure_is_reported(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(scene("print('x', end='')\nraise ValueError('no')")))
    assert printed(outcome) == "x"
    assert outcome.reports[-1]["type"] == "failed"


def test_output_before_the_death_of_the_process_is_reported(zygote: Zygote, tmp_path: Path) -> None:
    body = "import os\nprint('one')\nprint('two')\nos._exit(3)"
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert printed(outcome) == "one\ntwo\n"
    assert outcome.reports[-1]["type"] == "output"


def test_a_scene_can_close_its_streams(zygote: Zygote, tmp_path: Path) -> None:
    body = "import sys\nprint('first')\nsys.stdout.close()\nsys.stderr = None\nself.wait(0.1)"
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    assert outcome.result["type"] == "done"
    assert printed(outcome) == "first\n"


def test_output_is_bounded(zygote: Zygote, tmp_path: Path) -> None:
    body = "for _ in range(10_000): print('数' * 100)\nself.wait(0.1)"
    outcome = zygote.run(tmp_path, render_job(scene(body)))
    text = printed(outcome)
    assert len(text) < 33_000
    assert text.endswith("\n(Further output was left out.)\n")
    assert len(outcome.of_type("output")) < 210
    assert outcome.result["type"] == "done"


def test_forked_processes_report_nothing(zygote: Zygote, tmp_path: Path) -> None:
    body = "import os\nif os.fork() == 0:\n    print('child')\n    os._exit(0)\nos.wait()\nself.wait(0.1)"
    assert printed(zygote.run(tmp_path, render_job(scene(body)))) == ""


def test_listing_scenes_reports_output_too(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, list_job("print('loaded')\n" + SQUARE))
    assert printed(outcome) == "loaded\n"
    assert outcome.result["names"] == ["Demo"]
