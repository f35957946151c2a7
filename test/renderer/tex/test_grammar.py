"""Documents for LaTeX that are set identically each time, and what no such document may contain."""

import manim
import pytest
from manim import TexTemplate, TexTemplateLibrary

from scene_renderer.tex.grammar import is_repeatable

_DOCUMENT = manim.config["tex_template"].get_texcode_for_expression_in_env
_FORMULA = (
    r"\special{dvisvgm:raw <g id='unique000'>}"
    r"\left[\begin{array}{c}\frac{1}{\sqrt{x}} \\ \vec{v} \end{array}\right]"
    r"\special{dvisvgm:raw </g>}\special{dvisvgm:raw <g id='unique000substring'>}"
    r"= \text{if } \sum_{n=1}^\infty \lim_{x \to 0}\special{dvisvgm:raw </g>}"
)


@pytest.mark.parametrize(
    "expression",
    [
        r"\input{/etc/hostname}",
        r"\today",
        r"\the\year x",
        r"\csname inp\string ut\endcsname x",
        r"x\immediate\write18{ls}",
        r"\newwrite\f\immediate\openout\f=umsb.fd x",
        r"^^5ctoday",
        r"\begin{today}\end{today}",
        r"\begin{openout}15=umsb.fd \end{openout}",
        r"\begin{\string today}\end{\string today}",
        r"\begin {today}\end {today}",
        r"\catcode`!=0 !today",
        r"\makeatletter\@nameuse{today}",
        r"\def\same{x}\same",
        r"\special{ps: realtime rand}x",
        r"\special{dvisvgm:raw <path id='g0-65' d='M0 0H9'/>}x",
        r"\maketitle",
        r"\verb|x|",
        r"\IfFileExists{a.tex}{a}{b}",
        r"\usepackage{amsmath}",
    ],
)
def test_expressions_that_depend_on_anything(expression: str) -> None:
    assert not is_repeatable(_DOCUMENT(expression, "center"))


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        (r"\newcommand{\alpha}{\today}", r"$\alpha$"),
        (r"\renewcommand{\quad}{\today}", r"\quad"),
        (r"\usepackage{csvsimple}", r"\csvautotabular{data.csv}"),
        (r"\usepackage{datatool}", r"\DTLloaddb{data}{data.csv}x"),
        (r"\usepackage{fancyvrb}", r"x\VerbatimInput{data.txt}"),
        (r"\usepackage[x=\today]{babel}", "x"),
        (r"\usepackage{amsmath,own}", "x"),
        (r"\usepackage{tikz}\usetikzlibrary{decorations.pathmorphing}", "x"),
        (r"\title{x}", "x"),
        (r"\immediate\openout15=amssymb.sty", "x"),
    ],
)
def test_preambles_that_depend_on_anything(line: str, expression: str) -> None:
    """Such as a command of the author that expands to the date."""
    template = TexTemplate().add_to_preamble(line)
    assert not is_repeatable(template.get_texcode_for_expression_in_env(expression, "center"))


@pytest.mark.parametrize(
    "template",
    [
        TexTemplate(),
        TexTemplateLibrary.simple,
        TexTemplateLibrary.threeb1b,
        TexTemplate().add_to_preamble("\\usepackage{mathtools, mathrsfs}\n\\usepackage[dvipsnames]{xcolor}"),
        TexTemplate().add_to_document(r"\boldmath"),
    ],
)
@pytest.mark.parametrize(
    ("environment", "expression"),
    [
        ("align*", _FORMULA),
        ("center", r"\'Etude \& caf\'e, $100\,\% \mathbb{R}$"),
        ("tabular}{|c|c|", r"\hline 1 & \textbf{2} \\ \hline"),
    ],
)
def test_common_documents(template: TexTemplate, environment: str, expression: str) -> None:
    assert is_repeatable(template.get_texcode_for_expression_in_env(expression, environment))
