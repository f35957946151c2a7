"""The sample that was set at the installation replaces that of each start, as long as TeX is the same."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from programs import note_programs
from scene_renderer.tex import prepared as tex_prepared
from scene_renderer.tex import sample as tex_sample


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tex_sample.Sample]:
    """A sample as it is set where nothing is prepared; afterwards it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(tex_prepared, "FOLDER", tmp_path_factory.mktemp("share") / "tex")
        sample = tex_sample.Conversion().result()
        assert sample is not None
        tex_sample.Conversion().prepare()
        yield sample


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that are started."""
    started: list[str] = []
    note_programs(monkeypatch, lambda args: started.append(" ".join(args)))
    return started


def test_a_start_only_looks_up_what_latex_would_read(
    prepared: tex_sample.Sample, commands: list[str]
) -> None:
    sample = tex_sample.Conversion().result()
    assert sample is not None
    assert sample.formats is not None
    assert prepared.formats is not None
    (command,) = commands
    assert "latex -interaction" not in command
    assert sample.formats.folder == tex_prepared.FOLDER
    assert sample.formats.find(prepared.formats.preamble) == (tex_prepared.FOLDER / "preamble.fmt", "")
    assert (sample.svg, sample.source, sample.names) == (prepared.svg, prepared.source, prepared.names)
    after_the_date = 100
    assert sample.data[after_the_date:] == prepared.data[after_the_date:]


def _change_tex(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Path(subprocess.check_output(["kpsewhich", "amsbsy.sty"], text=True).strip())
    (folder / own.name).write_text(f"{own.read_text()}%\n")
    monkeypatch.setenv("TEXINPUTS", f"{folder}:")


def _change_the_document(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scene_renderer.tex.known._GREEK", "alpha")


def _empty_the_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sample.json").write_text("")
    monkeypatch.setattr(tex_prepared, "FOLDER", folder)


def _shorten_the_record(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sample.json").write_text("{}")
    monkeypatch.setattr(tex_prepared, "FOLDER", folder)


@pytest.mark.parametrize(
    "change", [_change_tex, _change_the_document, _empty_the_record, _shorten_the_record]
)
@pytest.mark.sampled(2)
def test_an_outdated_sample_is_set_again(
    change: Callable[[Path, pytest.MonkeyPatch], None],
    prepared: tex_sample.Sample,
    commands: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    change(tmp_path, monkeypatch)
    sample = tex_sample.Conversion().result()
    assert sample is not None
    assert sample.formats is not None
    assert any("latex -interaction" in command for command in commands)
    assert sample.formats.folder != tex_prepared.FOLDER
    assert len(sample.svg) > len(prepared.svg) / 2


def test_an_installation_prepares_the_sample(prepared: tex_sample.Sample) -> None:
    """The files are readable by other users, and contain no path of the machine that made them."""
    files = {path.name: path for path in tex_prepared.FOLDER.iterdir()}
    assert sorted(files) == ["latex.fmt", "preamble.fmt", "sample.dvi", "sample.json", "sample.svg"]
    for path in [tex_prepared.FOLDER, *files.values()]:
        assert path.stat().st_mode & 0o004
    assert "/" not in files["sample.json"].read_text()
    assert sorted(prepared.names) == json.loads(files["sample.json"].read_text())["names"]
