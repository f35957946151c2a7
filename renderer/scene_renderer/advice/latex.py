"""What is known about LaTeX: `latex.json`."""

import json
from pathlib import Path
from typing import Any

# `packages`: commands and environments of packages that Manim's preamble doesn't load; `commands`: those of
# the preamble; `meant`: what is written instead of commands that there are not; `characters`: commands of
# characters; `signs`: commands without arguments.
LATEX: dict[str, Any] = json.loads(Path(__file__).with_name("latex.json").read_text(encoding="utf-8"))
