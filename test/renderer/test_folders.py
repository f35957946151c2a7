"""The renderer's folders import in one direction only, as renderer/README.md says."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from client import RENDERER

_PACKAGE = RENDERER / "scene_renderer"
# Modules that scenes import by their names alone.
_FOR_SCENES = _PACKAGE / "for_scenes"
# What a folder may import besides itself and the helpers.
_USES: dict[str, set[str]] = {
    "sandbox": set(),
    "video": set(),
    "encoder": {"video"},
    "tex": set(),
    "advice": set(),
    "authors": set(),
    "reading": {"tex", "advice", "authors"},
    "layout": set(),
    "job": {"sandbox", "video", "encoder", "tex", "advice", "authors", "reading", "layout"},
    "faster": {"job"},
}
# Modules at the top that every folder may import; they import only one another.
_HELPERS = {"messages", "native", "protocol", "replacing", "scene_error"}
# Modules at the top that start processes and may import everything. No folder may import them.
_STARTS = {"__main__", "warm_up", "zygote"}


def _imported(file: Path) -> Iterator[str]:
    """The folders and the modules at the top that a module imports from, except its own folder."""
    depth = len(file.relative_to(_PACKAGE).parts)
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth:
            yield from [node.module.partition(".")[0]] if node.module else (name.name for name in node.names)


@pytest.mark.parametrize("folder", _USES)
def test_a_folder_imports_only_what_is_below_it(folder: str) -> None:
    for file in (_PACKAGE / folder).glob("*.py"):
        assert {*_imported(file)} <= _USES[folder] | _HELPERS, file


def test_helpers_import_no_folder() -> None:
    for name in _HELPERS:
        assert {*_imported(_PACKAGE / f"{name}.py")} <= _HELPERS, name


def test_every_module_and_folder_has_a_place() -> None:
    assert {path.parent for path in _PACKAGE.glob("*/*.py")} - {_FOR_SCENES} == {
        _PACKAGE / folder for folder in _USES
    }
    assert {path.stem for path in _PACKAGE.glob("*.py")} == _HELPERS | _STARTS | {"__init__"}


def test_no_module_names_the_package() -> None:
    """Imports are relative, so that the ones above are all there are; modules for scenes have none."""
    for file in {*_PACKAGE.rglob("*.py")} - {*_FOR_SCENES.rglob("*.py")}:
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not any(name.partition(".")[0] == "scene_renderer" for name in names), file


def test_the_encoder_loads_no_manim() -> None:
    """What it imports: the encoding, and what starts it."""
    code = (
        "import sys; from scene_renderer import zygote; zygote.prepare_encoding(); "
        "sys.exit('manim' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(RENDERER)})
