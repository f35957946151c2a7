"""The expressions that scenes ask for most: numbers, letters, signs and the brackets of matrices.

A zygote sets them once, each on a page of one document. Their SVG files are made when a scene asks for them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from . import dvi

_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi rho "
    "sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_SYMBOLS = (
    "times div cdot pm mp to rightarrow leftarrow Rightarrow Leftarrow leftrightarrow Leftrightarrow mapsto "
    "infty partial nabla sum prod int in subset subseteq cup cap leq geq le ge neq approx equiv sim propto "
    "forall exists ldots cdots vdots ddots dots circ bullet star angle perp parallel ell hbar"
)
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SINGLE = "0123456789.,+-=<>()[]|/!?:;*" + _CAPITALS + _CAPITALS.lower()
_NUMBERS = [str(number) for number in (*range(-20, 0), *range(10, 101), *range(200, 1001, 100))]
_DECIMALS = [
    f"{number}" for number in (0.5, -0.5, 0.1, 0.2, 0.25, 0.3, 0.4, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0, 1.5)
]
_NOT_IN_TEXT = "<>|"
_ROWS_MAX = 10
_FONT_MAPS = frozenset({"psfonts.map", "ps2pk.map", "dvips.map"})
_END = "\\end{document}"
# The class has begun this environment with the document, and ends it with it.
_NEXT_PAGE = "\\endpreview\\preview\n"


def _part(text: str) -> str:
    """Return an expression of one part as Manim gives it to TeX."""
    return rf"\special{{dvisvgm:raw <g id='unique000'>}}{text}\special{{dvisvgm:raw </g>}}"


def _expressions() -> Iterator[tuple[str, str]]:
    """Yield environments and expressions."""
    formulas = [*_SINGLE, *_NUMBERS, *_DECIMALS, *(rf"\{name}" for name in f"{_GREEK} {_SYMBOLS}".split())]
    formulas += ["f(x)", "g(x)", "f'(x)", "x^2", r"\%", r"^{\circ}", r"^\circ"]
    for rows in range(1, _ROWS_MAX + 1):
        array = r"\begin{array}{c}" + rows * r"\quad \\" + r"\end{array}"
        for left, right in ("[]", "()", "||"):
            formulas += [rf"\left{left}{array}\right.", rf"\left.{array}\right{right}"]
    for formula in formulas:
        yield "align*", _part(formula)
    for text in (*_SINGLE, *_NUMBERS):
        if text not in _NOT_IN_TEXT:
            yield "center", _part(text)
    for formula in ("\\dots", "=", "-", "+", ",", "."):
        yield "align*", formula


def _bodies() -> Iterator[str]:
    for environment, expression in _expressions():
        yield f"\\begin{{{environment}}}\n{expression}\n\\end{{{environment}}}\n"


def document(characters: str) -> str:
    """Return a document that has the expressions on further pages."""
    begin, end, _ = characters.partition(_END)
    return begin + "".join(_NEXT_PAGE + body for body in _bodies()) + end + "\n"


def names_in_record(record: str) -> frozenset[str]:
    """Return the names of the files that LaTeX has read, from its record (``-recorder``)."""
    return frozenset(re.findall(r"^INPUT (?:.*/)?([^/\n]+)$", record, re.MULTILINE))


def names_of_fonts(data: bytes) -> frozenset[str]:
    """Return the names of the files that the fonts of a DVI file consist of. Raises NotSupportedError."""
    fonts = {font.name for font in dvi.fonts(data).values()}
    return _FONT_MAPS.union(f"{name}.{kind}" for name in fonts for kind in ("tfm", "vf", "pfb"))


@dataclass(frozen=True)
class Known:
    """The pages of the expressions."""

    data: bytes
    pages: dict[str, int]
    """The place of each page in the DVI data, by the source of a document with its expression."""
    names: frozenset[str]
    """Names of the files that LaTeX has read."""

    @staticmethod
    def read(data: bytes, source_of: Callable[[str, str], str], names: frozenset[str]) -> "Known":
        """Find the pages.

        `source_of`: returns the source of the document that Manim makes of an expression in an environment.
        Raises NotSupportedError.
        """
        sources = [source_of(expression, environment) for environment, expression in _expressions()]
        places = dvi.pages(data)[1:]
        if len(places) != len(sources):
            raise dvi.NotSupportedError("another number of pages")
        return Known(data, dict(zip(sources, places, strict=True)), names | names_of_fonts(data))

    def page(self, source: str, metrics: dict[str, dvi.Metrics]) -> dvi.Page | None:
        """Return the page of a document, with the fonts that it uses; None if it isn't known."""
        place = self.pages.get(source)
        if place is None:
            return None
        page = dvi.read(self.data, metrics, place)
        used = {item.font for item in page.contents if isinstance(item, dvi.Glyph)}
        return replace(page, fonts={number: font for number, font in page.fonts.items() if number in used})
