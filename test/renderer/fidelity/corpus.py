"""The scenes to compare: Manim's documented examples, `scenes.py`, and the scenes of the benchmarks.

``python -m fidelity.corpus`` prints the documented ones as JSON.
"""

import ast
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

# Scene.__init__ seeds by `config.seed`; random numbers before that are seeded here.
PREAMBLE = "from manim import *; config.seed = 11; np.random.seed(11); __import__('random').seed(11)\n"
QUALITIES = {
    "low": (854, 480, 15),
    "medium": (1280, 720, 30),
    "high": (1920, 1080, 60),
    "fourk": (3840, 2160, 60),
}
_DIRECTIVE = re.compile(r"( *)\.\. manim:: *(\w+) *")
_BENCH_SCENES = Path(__file__).parents[3] / "scripts" / "bench" / "scenes"
_OPTION = re.compile(r"\s*:(\w+):\s*(.*)")


@dataclass(frozen=True)
class Example:
    """A scene to compare; `still` if its documentation shows only the last picture."""

    name: str
    class_name: str
    code: str
    still: bool = False
    size: tuple[int, int, int] = QUALITIES["low"]
    portrait: bool = False


def own_scenes() -> list[Example]:
    """Return the scenes of `scenes.py`."""
    code = Path(__file__).with_name("scenes.py").read_text()
    names = re.findall(r"^class (\w+)\(\w*Scene\)", code, re.MULTILINE)
    return [Example(f"scenes:{name}", name, code) for name in names]


def bench_scenes() -> list[Example]:
    """Return the scenes of the benchmarks."""
    found = []
    for path in sorted(_BENCH_SCENES.glob("*.py")):
        code = path.read_text()
        names = re.findall(r"^class (\w+)\(\w*Scene\)", code, re.MULTILINE)
        found += [Example(f"bench:{path.stem}:{name}", name, PREAMBLE + code) for name in names]
    return found


def documented() -> list[Example]:
    """Return every example in the docstrings of the installed Manim."""
    spec = importlib.util.find_spec("manim")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    seen: Counter[str] = Counter()
    found = []
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package).with_suffix("").parts)
        for text in _texts(path):
            for class_name, options, code in _directives(text):
                name = f"{module}:{class_name}"
                seen[name] += 1
                if seen[name] > 1:
                    name += f"#{seen[name]}"
                size = QUALITIES[options.get("quality", "low")]
                found.append(Example(name, class_name, PREAMBLE + code, "save_last_frame" in options, size))
    return found


def _texts(path: Path) -> Iterator[str]:
    """Yield the strings that stand alone in a source file: docstrings, also those of attributes."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def _directives(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    lines = text.expandtabs().split("\n")
    for number, line in enumerate(lines, start=1):
        if not (match := _DIRECTIVE.fullmatch(line)):
            continue
        deeper = re.compile(rf" {{{len(match[1]) + 1}}}.*|\s*").fullmatch
        block = list(takewhile(deeper, lines[number:]))
        options = [found for found in map(_OPTION.fullmatch, takewhile(str.strip, block)) if found]
        code = dedent("\n".join(block[len(options) :])).strip()
        if code.startswith(">>> "):
            code = "\n".join(line[4:] for line in code.split("\n") if line.startswith((">>> ", "... ")))
        yield match[2], {found[1]: found[2] for found in options}, code + "\n"


if __name__ == "__main__":
    print(json.dumps([{"name": e.name, "className": e.class_name, "code": e.code} for e in documented()]))
