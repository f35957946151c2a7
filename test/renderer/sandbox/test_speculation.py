import ast
import ctypes
import errno
import re
from pathlib import Path

import pytest

from client import Zygote, render_job
from scene_renderer.sandbox import kernel
from sources import scene

# The mitigation status of a process before and after, for kernels where it can be set.
CHANGES = {"thread vulnerable": "thread force mitigated", "conditional enabled": "conditional force disabled"}


def settings(status: str) -> dict[str, str]:
    return dict(re.findall(r"^(Speculation\w*):\t(.*)$", status, re.MULTILINE))


def test_speculation_is_disabled_for_scenes_if_possible(zygote: Zygote, tmp_path: Path) -> None:
    before = settings(Path(f"/proc/{zygote.process.pid}/status").read_text())
    body = "raise ValueError([line for line in open('/proc/self/status') if 'pecul' in line])"
    text = zygote.run(tmp_path, render_job(scene(body))).error.splitlines()[0].removeprefix("ValueError: ")
    after = settings("".join(ast.literal_eval(text)))
    assert after == {name: CHANGES.get(value, value) for name, value in before.items()}
    assert before


class _Library:
    """A C library whose prctl fails and records its arguments."""

    def __init__(self, error: int) -> None:
        self.error = error
        self.calls: list[list[int]] = []

    def prctl(self, *arguments: "int | ctypes.c_ulong") -> int:
        self.calls.append([value if isinstance(value, int) else value.value for value in arguments])
        ctypes.set_errno(self.error)
        return -1 if self.error else 0


@pytest.mark.parametrize("error", [0, errno.ENXIO, errno.ENODEV, errno.EPERM, errno.EINVAL])
def test_an_unsupported_prctl_is_ignored(monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    library = _Library(error)
    monkeypatch.setattr(kernel, "_libc", library)
    kernel.forbid_speculation()
    assert library.calls == [[53, 0, 8, 0, 0], [53, 1, 8, 0, 0]]


def test_another_error_of_prctl_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "_libc", _Library(errno.EFAULT))
    with pytest.raises(OSError, match="speculation"):
        kernel.forbid_speculation()
