"""What a scene spends its time on, as a render reports it."""

import threading
import time
from pathlib import Path

from client import Zygote, render_job
from scene_renderer.job.work_times import Stopwatch

CODE = """from manim import *
import time

class Demo(Scene):
    def construct(self):
        time.sleep(0.2)
        formula = MathTex("x^2 + 73")
        [formula.copy() for _ in range(100)]
        dot = Dot().add_updater(lambda dot, dt: time.sleep(0.05))
        self.add(formula, dot)
        self.wait(1)
"""


def test_a_render_reports_the_time_of_each_kind_of_work(zygote: Zygote, tmp_path: Path) -> None:
    outcome = zygote.run(tmp_path, render_job(CODE))
    (report,) = outcome.of_type("work")
    times = report["ms"]
    assert times.keys() == {"scene", "tex", "copy", "update", "draw", "encode"}
    assert times["scene"] >= 200
    assert times["update"] >= 10 * 50
    assert all(times[work] > 0 for work in ("tex", "copy", "draw", "encode"))


def test_a_failed_scene_reports_its_times_too(zygote: Zygote, tmp_path: Path) -> None:
    code = CODE.replace("self.wait(1)", "1 / 0")
    outcome = zygote.run(tmp_path, render_job(code))
    (report,) = outcome.of_type("work")
    assert outcome.result["type"] == "failed"
    assert report["ms"]["scene"] >= 200


def test_each_moment_counts_for_the_innermost_work() -> None:
    stopwatch = Stopwatch()
    began = time.perf_counter()
    stopwatch.start()
    with stopwatch.during("update"):
        time.sleep(0.02)
        with stopwatch.during("draw"):
            time.sleep(0.03)
        time.sleep(0.02)
    times = stopwatch.times()
    took_ms = (time.perf_counter() - began) * 1000
    assert times["draw"] >= 30
    assert times["update"] >= 40
    assert times["tex"] == 0
    assert abs(times["scene"] + times["update"] + times["draw"] - took_ms) < 10


def test_an_error_ends_its_work() -> None:
    stopwatch = Stopwatch()
    stopwatch.start()
    try:
        with stopwatch.during("tex"):
            raise ValueError
    except ValueError:
        pass
    before = stopwatch.times()["tex"]
    time.sleep(0.01)
    assert stopwatch.times()["tex"] == before


def test_other_threads_are_not_measured() -> None:
    stopwatch = Stopwatch()
    stopwatch.start()

    def work() -> None:
        with stopwatch.during("draw"):
            time.sleep(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    times = stopwatch.times()
    assert times["draw"] == 0
    assert times["scene"] >= 20
