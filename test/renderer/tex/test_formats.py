"""The formats that LaTeX loads in jobs, and that no job can change."""

import subprocess
from pathlib import Path

import pytest

from client import Zygote, render_job
from scene_renderer.tex import prepared

SCENE = "from manim import *\nclass Demo(Scene):\n    def construct(self):\n"


def test_jobs_use_the_format_in_the_sandbox(any_zygote: Zygote, tmp_path: Path) -> None:
    """Each job starts a LaTeX of its own."""
    code = (
        SCENE
        + """
        MathTex(str(17 * 17) + "+ x")
        from scene_renderer.tex import typesetting
        for server in typesetting._setting.servers._servers.values():
            print(server and [each for each in server._server.args if "fmt" in each])
        self.wait()
"""
    )
    outcome = any_zygote.run(tmp_path, render_job(code))
    (report,) = outcome.of_type("output")
    assert report["text"].count("preamble.fmt") == 1
    assert report["text"].count("\n") == 1


def test_a_scene_cannot_change_the_prepared_formats(any_zygote: Zygote, tmp_path: Path) -> None:
    """It sees them, and later jobs get the same ones."""
    _assert_unchangeable(prepared.FOLDER, any_zygote, tmp_path)


@pytest.mark.parametrize("options", [(), ("--without=namespaces",)], ids=["isolated", "exposed"])
@pytest.mark.deep
def test_a_scene_cannot_change_formats_of_its_zygote(options: tuple[str, ...], tmp_path: Path) -> None:
    """Which makes them when TeX is another one than that of the prepared ones."""
    changed, cache = tmp_path / "changed", tmp_path / "cache"
    (job := tmp_path / "job").mkdir()
    changed.mkdir()
    own = Path(subprocess.check_output(["kpsewhich", "amsbsy.sty"], text=True).strip())
    (changed / own.name).write_text(f"{own.read_text()}%\n")
    zygote = Zygote(*options, environment={"XDG_CACHE_HOME": str(cache), "TEXINPUTS": f"{changed}:"})
    (formats,) = cache.glob("tex-formats/*")
    _assert_unchangeable(formats, zygote, job)
    assert zygote.close() == 0


def _assert_unchangeable(folder: Path, zygote: Zygote, job_folder: Path) -> None:
    attack = """
import os
from pathlib import Path
from manim import *
class Demo(Scene):
    def construct(self):
        file = Path("%s") / "preamble.fmt"
        file.open("rb").close()
        attempts = {
            "write": lambda: open(file, "r+b").write(b"x"),
            "truncate": lambda: os.truncate(file, 0),
            "replace": lambda: os.replace("scene.py", file),
            "remove": lambda: file.unlink(),
            "rename": lambda: file.parent.rename(file.parent.parent / "other"),
            "add": lambda: (file.parent.parent / ("3" * 64)).mkdir(),
            "link": lambda: os.link(file, "linked"),
            "permit": lambda: os.chmod(file, 0o666) or open(file, "ab").write(b"x"),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
            except OSError:
                continue
            print("succeeded:", name)
        self.wait()
"""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    modes = {path: path.stat().st_mode for path in before}
    assert {"preamble.fmt", "latex.fmt"} <= {path.name for path in before}
    outcome = zygote.run(job_folder, render_job(attack % folder))
    assert outcome.result["type"] == "done", outcome.result
    assert outcome.of_type("output") == []
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert {path: path.stat().st_mode for path in before} == modes
