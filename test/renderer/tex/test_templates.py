"""The templates that Manim's TexTemplateLibrary and TexFontTemplates name, each with text and a formula.

All of them take minutes, so by default a sample is tried; TEMPLATES=all tries all.
"""

import json
import os
import re
from pathlib import Path

import pytest
from manim import TexFontTemplates, TexTemplate, TexTemplateLibrary, tempconfig
from manim.utils.tex_file_writing import tex_to_svg_file

EXPRESSION = r"Text 123 $\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$"
GLYPHS = 20
# What each template that fails lacks. The test of the single executable expects the same.
LACKING = json.loads(Path(__file__).with_name("lacking_templates.json").read_text())
SAMPLED = 8

TEMPLATES = {
    name: template
    for library in (TexTemplateLibrary, TexFontTemplates)
    for name, template in vars(library).items()
    if isinstance(template, TexTemplate)
}
TRIED = list(TEMPLATES) if os.environ.get("TEMPLATES") == "all" else list(TEMPLATES)[::SAMPLED]


def _glyphs(template: TexTemplate) -> int:
    """The number of glyphs with an outline, which dvisvgm leaves out if it finds none; 0 if LaTeX fails."""
    try:
        svg = tex_to_svg_file(EXPRESSION, tex_template=template).read_text()
    except (ValueError, IndexError):  # Manim's own reading of some logs fails, too.
        return 0
    outlines = set(re.findall(" id='([^']+)'", svg))
    return sum(name in outlines for name in re.findall("<use x=[^>]*href='#([^']+)'", svg))


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.sampled(3)
def test_a_template_renders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the programs that it names, unless something is known to be lacking."""
    monkeypatch.chdir(tmp_path)
    with tempconfig({"tex_dir": str(tmp_path)}):
        assert (_glyphs(TEMPLATES[name]) >= GLYPHS) == (name not in LACKING)


def test_what_is_lacking_is_listed_by_names_that_exist() -> None:
    """A template that Manim renames would not be expected to fail any longer."""
    assert set(LACKING) <= set(TEMPLATES)
