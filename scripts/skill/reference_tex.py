"""The parts about TeX that aren't classes: the preamble, packages and templates."""

import json
from collections.abc import Iterator
from pathlib import Path

import manim

_RENDERER = Path(__file__).parents[2] / "renderer"
_LATEX = json.loads((_RENDERER / "scene_renderer/advice/latex.json").read_text())
# Known to the renderer's advice, but not among the TeX packages that are installed.
_MISSING = ("skak", "musicography")
_PACKAGE = """```python
from manim import *

class Units(Scene):
    def construct(self):
        template = TexTemplate()
        template.add_to_preamble(r"\\usepackage{siunitx}")
        speed = MathTex(r"v = \\qty{3.0e8}{\\metre\\per\\second}", tex_template=template)
        self.play(Write(speed))
```"""


def tex_parts() -> Iterator[str]:
    """Yield the sections."""
    loaded = [line.rpartition("{")[2].rstrip("}") for line in manim.TexTemplate().preamble.splitlines()]
    yield (
        "## Packages\n\n"
        f"Manim's preamble loads {', '.join(f'`{name}`' for name in loaded)}. Many others are installed, but "
        f"must be loaded:\n\n{_PACKAGE}\n\n{_packages()}"
    )
    yield (
        "## Ready-made templates\n\n"
        f"`TexTemplateLibrary`: {_names_in(manim.TexTemplateLibrary)}.\n\n"
        f"`TexFontTemplates`: {_names_in(manim.TexFontTemplates)}. Those of fonts that are not free fail."
    )


def _packages() -> str:
    lines = [
        f"- `{package}`: {', '.join(f'`{name}`' for name in names)}"
        for package, names in _LATEX["packages"].items()
        if package not in _MISSING
    ]
    return "What needs which package (names without a backslash; some are environments):\n\n" + "\n".join(
        lines
    )


def _names_in(namespace: type) -> str:
    return ", ".join(f"`{name}`" for name in vars(namespace) if not name.startswith("_"))
