"""Runs test files with pytest and prints TAP: one subtest for each file, one assertion for each test.

    python pytest_tap.py FILE …

``SCENEPRESS_TESTS`` says how much runs of what is marked ``deep`` or ``sampled``: ``quick``, ``deep``,
``rest`` (what ``quick`` leaves of ``deep``) or ``release``. Runs in ``renderer/``, where the settings of
pytest are.
"""

import faulthandler
import os
import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class TapReport:
    """Prints a file when its last test has ended."""

    def __init__(self) -> None:
        self.tests: dict[str, list[str]] = {}
        self.failed: set[str] = set()
        self.seconds: dict[str, float] = {}
        self.printed = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test when it has run, and what fails before or after it, such as a fixture."""
        file, _, title = report.nodeid.partition("::")
        self.seconds[file] = self.seconds.get(file, 0) + report.duration
        if report.when == "call" or report.outcome != "passed":
            self.add(file, title, report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file that cannot be imported."""
        if report.failed:
            self.add(report.nodeid, "can be imported", report)

    def add(self, file: str, title: str, report: pytest.TestReport | pytest.CollectReport) -> None:
        """Add the result of a test to those of its file."""
        if file not in self.tests:
            self.print_files()
        lines = self.tests.setdefault(file, [])
        number = sum(" - " in line for line in lines if line.startswith(("ok", "not ok"))) + 1
        skip = f" # SKIP {report.longreprtext.splitlines()[-1]}" if report.skipped else ""
        ms = report.duration * 1000 if isinstance(report, pytest.TestReport) else 0
        time = "" if skip else f" # time={ms:.1f}ms"
        lines.append(f"{'not ok' if report.failed else 'ok'} {number} - {escape(title)}{skip or time}")
        if report.failed:
            self.failed.add(file)
            text = report.longreprtext + "".join(f"\n{name}\n{content}" for name, content in report.sections)
            lines += ["  ---", "  message: |", *(f"    {line}" for line in text.splitlines()), "  ..."]

    def print_files(self) -> None:
        """Print the files whose tests have ended."""
        for file, lines in self.tests.items():
            self.printed += 1
            print(f"# Subtest: {file}")
            for line in lines:
                print(f"    {line}")
            print(f"    1..{sum(line.startswith(('ok ', 'not ok ')) for line in lines)}")
            outcome = "not ok" if file in self.failed else "ok"
            print(
                f"{outcome} {self.printed} - {file} # time={self.seconds.get(file, 0) * 1000:.1f}ms",
                flush=True,
            )
        self.tests.clear()


def escape(title: str) -> str:
    """Escape what TAP would read as a directive."""
    return title.replace("\\", "\\\\").replace("#", "\\#")


def main(paths: list[Path]) -> int:
    """Run the files; returns pytest's exit code."""
    # The runner sends it to a test that has timed out.
    faulthandler.register(signal.SIGALRM, all_threads=True, chain=True)
    report = TapReport()
    print("TAP version 14", flush=True)
    os.chdir(ROOT / "renderer")
    # The terminal's report has options among those of the settings.
    options = [f"--rootdir={ROOT}", "--config-file=pyproject.toml", "--override-ini=addopts=--strict-markers"]
    options += ["-p", "no:terminal"]
    code = pytest.main([*options, *map(str, paths)], plugins=[report])
    report.print_files()
    print(f"1..{report.printed}")
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else int(code)


if __name__ == "__main__":
    sys.exit(main([Path(path).resolve() for path in sys.argv[1:]]))
