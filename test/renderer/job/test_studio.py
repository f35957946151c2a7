"""The studio's own material in sandboxes without bubblewrap; studio.test.ts tests it with bubblewrap."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client import Zygote, render_job
from sources import scene
from videos import streams

DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>'


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studio")
    (folder / "python").mkdir()
    (folder / "python" / "studio_helpers.py").write_text("SIDE = 2\n")
    (folder / "assets").mkdir()
    (folder / "assets" / "mark.svg").write_text(DRAWING)
    (folder.parent / "secret").write_text("secret")
    (folder / "assets" / "link").symlink_to(folder.parent / "secret")
    return folder


@pytest.fixture(scope="module", params=[(), ("namespaces",), ("landlock",)], ids=["all", "reduced", "bound"])
def supplied(request: pytest.FixtureRequest, studio: Path) -> Iterator[Zygote]:
    """A zygote started with the folder's own path, as without bubblewrap."""
    options = [f"--read={studio / part}" for part in ("python", "assets")]
    without = [f"--without={layer}" for layer in request.param]
    zygote = Zygote(*options, *without, environment={"XDG_DATA_HOME": str(studio)})
    yield zygote
    assert zygote.close() == 0


def test_modules_and_pictures_can_be_used(supplied: Zygote, tmp_path: Path) -> None:
    body = """
        import studio_helpers
        drawing = SVGMobject("mark")
        assert drawing.width / drawing.height == studio_helpers.SIDE
        self.add(drawing)
        self.wait()
    """
    assert supplied.run(tmp_path, render_job(scene(body))).result["type"] == "done"
    assert len(streams(tmp_path / "video.mp4")) == 1


def test_nothing_can_be_written_and_no_link_leads_out(supplied: Zygote, studio: Path, tmp_path: Path) -> None:
    body = f"""
        through = []
        for path, mode in (("assets/link", "r"), ("assets/mark.svg", "r+"), ("python/x", "x")):
            try:
                open({str(studio)!r} + "/" + path, mode).close()
            except OSError:
                continue
            through.append(path)
        raise ValueError(through)
    """
    assert supplied.run(tmp_path, render_job(scene(body))).error.startswith("ValueError: []\n")


def test_errors_name_files_relative_to_the_folder(supplied: Zygote, studio: Path, tmp_path: Path) -> None:
    error = supplied.run(tmp_path, render_job(scene("open(f'{config.assets_dir}/no.png')"))).error
    assert error.startswith("FileNotFoundError: [Errno 2] No such file or directory: 'assets/no.png'\n")


def test_without_a_folder_pictures_are_searched_beside_the_scene(zygote: Zygote, tmp_path: Path) -> None:
    body = f"""
        assert str(config.get_dir('assets_dir')) == '.'
        open('mark.svg', 'w').write({DRAWING!r})
        self.add(SVGMobject('mark'))
        self.wait()
    """
    assert zygote.run(tmp_path, render_job(scene(body))).result["type"] == "done"


def test_the_zygote_imports_no_module_of_the_studio(studio: Path, tmp_path: Path) -> None:
    for name in ("sitecustomize", "usercustomize", "numpy", "scene_renderer"):
        (studio / "python" / f"{name}.py").write_text("import os; os._exit(9)\n")
    (studio / "python" / "evil.pth").write_text("import os; os._exit(9)\n")
    zygote = Zygote(f"--read={studio / 'python'}", environment={"XDG_DATA_HOME": str(studio)})
    assert zygote.ready["python"] == sys.version.split()[0]
    assert zygote.run(tmp_path, render_job(scene("import studio_helpers"))).result["type"] == "done"
    assert zygote.close() == 0
