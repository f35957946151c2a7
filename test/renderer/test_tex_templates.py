"""The templates that Manim's TexTemplateLibrary and TexFontTemplates name, each with text and a formula.

All of them take minutes, so by default a sample is tried; TEMPLATES=all tries all.
"""

import os
from pathlib import Path

import pytest
from manim import TexFontTemplates, TexTemplate, TexTemplateLibrary, tempconfig
from manim.utils.tex_file_writing import tex_to_svg_file

EXPRESSION = r"Text 123 $\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$"
SHAPES = 20
# What each template that fails lacks.
LACKING = {
    "american_typewriter": "the font American Typewriter, which is not free",
    "antykwa": "antpolt.sty and the encoding OT4, of Debian's texlive-lang-polish",
    "apple_chancery": "the font Apple Chancery, which is not free",
    "baskerville_it": "the font Baskerville, which is not free",
    "chalkboard_se": "the font Chalkboard SE, which is not free",
    "chalkduster": "the font Chalkduster, which is not free",
    "comic_sans": "the font Comic Sans MS, which is not free",
    "ecf_skeetch": "the font fskmw8t, which Debian does not have",
    "gnu_freesans_tx": "the file FreeSerif.otf among the fonts of TeX",
    "gnu_freeserif_freesans": "the file FreeSerif.otf among the fonts of TeX",
    "minion_pro_myriad_pro": "the font Minion Pro, which is not free",
    "minion_pro_tx": "the font Minion Pro, which is not free",
    "noteworthy_light": "a compiler that fontspec works with: the template names latex",
    "papyrus": "the font Papyrus, which is not free",
    "verdana_it": "the font Verdana, which is not free",
    "vollkorn": "vollkorn.sty, which Debian does not have",
    "vollkorn_fourier_it": "vollkorn.sty, which Debian does not have",
}
SAMPLED = 8

TEMPLATES = {
    name: template
    for library in (TexTemplateLibrary, TexFontTemplates)
    for name, template in vars(library).items()
    if isinstance(template, TexTemplate)
}
TRIED = list(TEMPLATES) if os.environ.get("TEMPLATES") == "all" else list(TEMPLATES)[::SAMPLED]


@pytest.mark.parametrize("name", TRIED)
def test_a_template_renders(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the programs that it names, unless something is known to be lacking."""
    monkeypatch.chdir(tmp_path)
    with tempconfig({"tex_dir": str(tmp_path)}):
        if name in LACKING:
            # Manim's own reading of some logs fails, too.
            with pytest.raises((ValueError, IndexError)):
                tex_to_svg_file(EXPRESSION, tex_template=TEMPLATES[name])
        else:
            svg = tex_to_svg_file(EXPRESSION, tex_template=TEMPLATES[name])
            assert svg.read_text().count("<use") >= SHAPES


def test_what_is_lacking_is_listed_by_names_that_exist() -> None:
    """A template that Manim renames would not be expected to fail any longer."""
    assert set(LACKING) <= set(TEMPLATES)
