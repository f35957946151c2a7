"""Sets TeX expressions faster than Manim, with the same curves.

Numbers, letters and signs are known before the first job. For other expressions, LaTeX runs as a server that
has read the preamble. The conversion to SVG needs no dvisvgm for characters whose outlines are known from an
earlier conversion.
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from manim import TexTemplate
from manim.utils import tex_file_writing

from ..replacing import replace
from . import dvi
from .formats import Formats
from .known import Known
from .sample import Sample
from .server import BEGIN, TexServers
from .surroundings import Surroundings

_manims_compile = tex_file_writing.compile_tex
_manims_convert = tex_file_writing.convert_to_svg


class _Setting:
    """The state of typesetting: set up in a zygote before its first fork, then separate in each job."""

    def __init__(self, sample: Sample | None) -> None:
        self.servers = TexServers()
        self.characters = Characters()
        self.known: Known | None = None
        self.surroundings = Surroundings()
        self.formats = None if sample is None else sample.formats
        self.hold: Callable[[], None] | None = None
        if sample is not None:
            self.characters.learn(sample.data, sample.svg)
            self._know(sample)

    def _know(self, sample: Sample) -> None:
        template = TexTemplate()
        preamble = template.get_texcode_for_expression("").partition(BEGIN)[0]
        if preamble not in sample.source:
            return  # another version of Manim
        with suppress(dvi.NotSupportedError):
            self.known = Known.read(sample.data, template.get_texcode_for_expression_in_env, sample.names)

    def find(self, source: str) -> str | None:
        """Return the SVG of a document for LaTeX that need not be compiled."""
        known = self.known
        if known is not None and source in known.pages and self.surroundings.fit(known.names):
            return self.characters.convert_known(known, source)
        return None

    def fitting_formats(self) -> Formats | None:
        """Return the formats, unless LaTeX would find other files than those that they are made of."""
        fit = self.formats is not None and self.surroundings.fit(self.formats.names)
        return self.formats if fit else None


_setting: _Setting


def set_directly(sample: Sample | None = None) -> None:
    """Replace Manim's compilation and conversion."""
    global _setting
    _setting = _Setting(sample)
    replace(tex_file_writing, compile_tex=_compile, convert_to_svg=_convert)


def format_file() -> Path | None:
    """Return the format of LaTeX that has read Manim's preamble; None if there is none."""
    formats = _setting.fitting_formats() if "_setting" in globals() else None
    found = formats and formats.find(formats.preamble)
    return found[0] if found else None


@contextmanager
def held(hold: Callable[[], None]) -> Iterator[None]:
    """Call `hold` meanwhile instead of TeX."""
    if "_setting" not in globals():
        set_directly()
    before, _setting.hold = _setting.hold, hold
    try:
        yield
    finally:
        _setting.hold = before


def begin_job(hold: Callable[[], None] | None = None) -> None:
    """Remember the surroundings before a scene can change them.

    `hold`: called instead of TeX, which must not be started.
    """
    _setting.hold = hold
    _setting.surroundings = Surroundings()


def _compile(tex_file: Path, tex_compiler: Any, output_format: str) -> Path:
    result = tex_file.with_suffix(output_format)
    if result.exists():
        return result
    is_plain = tex_compiler == "latex" and output_format == ".dvi"
    source = tex_file.read_text(encoding="utf-8") if is_plain else ""
    if is_plain and (svg := _setting.find(source)) is not None:
        tex_file.with_suffix(".svg").write_text(svg, encoding="utf-8")
        return result  # which isn't needed: there is an SVG file
    if _setting.hold is not None:
        _setting.hold()
    if is_plain:
        _setting.servers.compile(tex_file, result, _setting.fitting_formats())
    # Returns the result, or runs latex, whose log the error message names.
    return _manims_compile(tex_file, tex_compiler, output_format)


def _convert(dvi_file: Path, extension: str, page: int = 1) -> Path:
    result = dvi_file.with_suffix(".svg")
    if extension != ".dvi" or page != 1 or result.exists():
        return _manims_convert(dvi_file, extension, page)
    data = dvi_file.read_bytes()
    svg = _setting.characters.convert(data)
    if svg is not None:
        result.write_text(svg, encoding="utf-8")
        return result
    _manims_convert(dvi_file, extension, page)
    _setting.characters.learn(data, result.read_text(encoding="utf-8"))
    return result


class Characters:
    """Outlines and metrics of characters, read from SVG files of dvisvgm and from TeX's metric files.

    A font is used when a page with it was converted to exactly what dvisvgm has written for that page.
    """

    def __init__(self) -> None:
        self._metrics: dict[str, dvi.Metrics] = {}
        self._outlines: dict[tuple[dvi.Font, int], str] = {}
        self._unusable: set[dvi.Font] = set()

    def convert(self, data: bytes) -> str | None:
        """Return the SVG of a DVI file's first page; None if dvisvgm must convert it."""
        return self._convert(data, self._metrics, self._outlines)

    def convert_known(self, known: Known, source: str) -> str | None:
        """Return the SVG of a document whose page is known; None if it isn't."""
        try:
            page = known.page(source, self._metrics)
            return None if page is None else dvi.to_svg(page, self._metrics, self._outlines)
        except (dvi.NotSupportedError, KeyError, IndexError):
            return None

    def learn(self, data: bytes, svg: str) -> None:
        """Add the characters of a DVI file that dvisvgm has converted."""
        try:
            fonts = set(dvi.fonts(data).values())
            if fonts & self._unusable:
                return
            metrics = self._metrics | _metrics({font.name for font in fonts} - self._metrics.keys())
            outlines = self._outlines | dict(dvi.outlines_of(svg, data))
        except (dvi.NotSupportedError, IndexError, OSError, ValueError):
            return
        ours = self._convert(data, metrics, outlines)
        if ours is not None and _without_order(ours) == _without_order(svg):
            self._metrics, self._outlines = metrics, outlines
        elif ours is not None:
            self._unusable |= fonts

    @staticmethod
    def _convert(
        data: bytes, metrics: dict[str, dvi.Metrics], outlines: dict[tuple[dvi.Font, int], str]
    ) -> str | None:
        try:
            return dvi.to_svg(dvi.read(data, metrics), metrics, outlines)
        except (dvi.NotSupportedError, KeyError, IndexError):
            return None


def _metrics(names: set[str]) -> dict[str, dvi.Metrics]:
    if not names:
        return {}
    in_order = sorted(names)
    found = subprocess.run(
        ["kpsewhich", *(f"{name}.tfm" for name in in_order)], capture_output=True, text=True, check=False
    )
    paths = {Path(line).stem: Path(line) for line in found.stdout.splitlines()}
    return {name: dvi.Metrics.read(paths[name]) for name in in_order if name in paths}


def _without_order(svg: str) -> tuple[str, list[str]]:
    """Split an SVG file into the outlines, whose order means nothing, and everything else but comments."""
    paths = re.findall(r"<path id='[^']*' d='[^']*'/>\n", svg)
    rest = re.sub(r"<path id='[^']*' d='[^']*'/>\n|<!--.*?-->\n", "", svg)
    return rest, sorted(paths)
