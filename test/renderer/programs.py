"""Notes the programs that a test starts."""

import subprocess
from collections.abc import Callable

import pytest


def note_programs(monkeypatch: pytest.MonkeyPatch, note: Callable[[list[str]], None]) -> None:
    """Call `note` with the arguments of each program that is started until the end of the test."""
    popen = subprocess.Popen.__init__

    def start(self: object, args: list[str], *rest: object, **named: object) -> None:
        note(args)
        popen(self, args, *rest, **named)  # type: ignore[call-overload] # whatever it is given

    monkeypatch.setattr(subprocess.Popen, "__init__", start)
