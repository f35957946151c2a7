import ast
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import scenepress_native
from client import RENDERER, TIMEOUT_S
from scene_renderer import native

DECLARATIONS = RENDERER / "scenepress_native.pyi"


def test_the_interface_is_that_of_the_declarations() -> None:
    """After a change of them, both `native.py` and `module.c` have to name this one."""
    expected = hashlib.sha256(DECLARATIONS.read_bytes()).hexdigest()[:8]
    assert expected == native.INTERFACE
    assert expected == scenepress_native.INTERFACE


def test_the_module_has_what_is_declared() -> None:
    body = ast.parse(DECLARATIONS.read_text()).body
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    (picture,) = (node for node in body if isinstance(node, ast.ClassDef))
    methods = {node.name for node in picture.body if isinstance(node, ast.FunctionDef)}
    assert functions | {"INTERFACE", "Picture"} == {
        name for name in vars(scenepress_native) if not name.startswith("__")
    }
    assert methods == {name for name in vars(scenepress_native.Picture) if not name.startswith("__")}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def draw(): ...", "was compiled from the sources of another version"),
        (f"INTERFACE = '{native.INTERFACE[::-1]}'", "was compiled from the sources of another version"),
        ("raise ImportError('undefined symbol: cairo_fill')", "loaded: undefined symbol: cairo_fill"),
    ],
)
def test_a_module_of_another_version_is_refused(source: str, message: str, tmp_path: Path) -> None:
    """As in an environment whose set-up was that of an earlier version."""
    (tmp_path / "scenepress_native.py").write_text(source)
    path = os.pathsep.join([str(tmp_path), str(RENDERER)])
    command = [sys.executable, "-s", "-P", "-B", "-m", "scene_renderer", "zygote"]
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert message in line
    assert line.endswith(native._REMEDY)
