"""Expressions are set as Manim sets them, without starting LaTeX and dvisvgm for each."""

import errno
import os
import random
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import manim
import pytest
from manim import (
    Axes,
    DecimalNumber,
    Integer,
    IntegerMatrix,
    MathTex,
    Matrix,
    NumberLine,
    NumberPlane,
    Tex,
    TexTemplate,
    tempconfig,
)
from manim.mobject.svg.svg_mobject import SVG_HASH_TO_MOB_MAP
from manim.mobject.text.numbers import string_to_mob_map
from manim.utils import tex_file_writing

from client import latex_servers
from programs import note_programs
from scene_renderer.scene_error import SceneError
from scene_renderer.tex import dvi, typesetting
from scene_renderer.tex import errors as tex_errors
from scene_renderer.tex import formats as tex_formats
from scene_renderer.tex import sample as tex_sample
from scene_renderer.tex import server as tex_server
from scene_renderer.tex.server import TexServers

_MANIMS_COMPILE = tex_file_writing.compile_tex
_MANIMS_CONVERT = tex_file_writing.convert_to_svg

EXPRESSIONS = [
    r"\int_0^1 x^2 \, dx = \frac{1}{3}",
    r"e^{i\pi} + 1 = 0",
    r"\sum_{n=1}^\infty \frac{1}{n^2} = \frac{\pi^2}{6}",
    r"\sqrt[3]{\frac{a^2+b^2}{\sqrt{c}}}",
    r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
    r"\begin{cases} x & x > 0 \\ -x & \text{otherwise} \end{cases}",
    r"\left(\frac{\frac{a}{b}}{c}\right)^{2^{2^2}}",
    r"\mathbb{R} \to \mathcal{F}, \mathfrak{g}",
    r"\underbrace{a + b + c + d}_{n} \overline{xyz} \widehat{abc}",
    r"\boxed{E = mc^2}",
    r"\lim_{x \to 0} \frac{\sin x}{x} \neq \log_2 8",
    r"\vec{F} \cdot d\vec{r} = \oint_{\partial\Omega} \omega",
    "3.14159",
]
TEXTS = [
    r"Hello \textbf{World}, \emph{efficient} ``quotes'' --- \texttt{code}",
    r"\Large Big \tiny small \normalsize \textsc{Capitals}",
    r"\begin{itemize} \item one \item two \end{itemize}",
    r"äöü ß é $\frac12$ \underline{under}",
]
DOCUMENT = manim.config["tex_template"].get_texcode_for_expression_in_env


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tex_sample.Sample:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        result = tex_sample.Conversion().result()
    assert result is not None
    assert result.formats is not None
    return result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set expressions in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(manim.config, "media_dir", "media")
    return tmp_path


@pytest.fixture
def replaced(folder: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch) -> "Iterator[Started]":
    """The programs that are started while the replacements are in place."""
    started = Started()

    def note(args: list[str]) -> None:
        started.append(args[0])
        started.formats += [Path(each).name for each in args if each.startswith("-fmt=")]

    string_to_mob_map.clear()
    SVG_HASH_TO_MOB_MAP.clear()
    typesetting.set_directly(sample)
    note_programs(monkeypatch, note)
    yield started
    tex_file_writing.compile_tex = _MANIMS_COMPILE
    tex_file_writing.convert_to_svg = _MANIMS_CONVERT


class Started(list[str]):
    """The programs, and the formats that LaTeX was told to load."""

    def __init__(self) -> None:
        super().__init__()
        self.formats: list[str] = []


def _points(mobject: manim.VMobject) -> list[bytes]:
    return [member.points.tobytes() for member in mobject.get_family()]


def _without_replacements(monkeypatch: pytest.MonkeyPatch, make: type[MathTex], text: str) -> list[bytes]:
    with monkeypatch.context() as patch:
        patch.setattr(tex_file_writing, "compile_tex", _MANIMS_COMPILE)
        patch.setattr(tex_file_writing, "convert_to_svg", _MANIMS_CONVERT)
        with tempconfig({"tex_dir": "plain"}):
            return _points(make(text))


@pytest.mark.parametrize(("make", "texts"), [(MathTex, EXPRESSIONS), (Tex, TEXTS)])
@pytest.mark.deep
def test_curves_are_the_same_to_the_last_bit(
    make: type[MathTex], texts: list[str], replaced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of formulas and of text."""
    ours = [_points(make(text)) for text in texts]
    assert ours == [_without_replacements(monkeypatch, make, text) for text in texts]


def test_one_latex_and_no_dvisvgm_is_started_for_many_expressions(replaced: list[str]) -> None:
    """With characters of the sample."""
    for number in range(5):
        MathTex(rf"\int_0^{number} x^2 \, dx", rf"\neq \sqrt{{{number}}}")
    assert replaced == ["latex"]


MIXED = [
    ("align*", r"\text{bold \textbf{x} $y$} \mathbf{x} \boldsymbol{\alpha}"),
    ("center", r"\textbf{a} $x$ \emph{b}"),
    ("align*", r"\Large x^{\mathbb{R}} + \mathfrak{g}"),
    ("center", r"$x$ \texttt{b}"),
    ("align*", r"\sum_{n=1}^\infty \frac{1}{n^2}"),
    ("center", r"\begin{itemize} \item one \item two $\alpha$ \end{itemize}"),
]


@pytest.mark.parametrize("added", ["", r"\usepackage{physics}", r"\usepackage{mathrsfs,xcolor}"])
@pytest.mark.deep
def test_dvi_files_have_the_bytes_that_latex_writes(
    added: str, folder: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With formats, and in any order: also the fonts have the same numbers, by which SVG files name them."""
    monkeypatch.setenv("openin_any", "p")
    template = TexTemplate().add_to_preamble(added)
    servers = TexServers()
    for environment, text in MIXED:
        source = template.get_texcode_for_expression_in_env(text, environment)
        for path in (Path("a.tex"), Path("served/a.tex")):
            path.parent.mkdir(exist_ok=True)
            path.write_text(source, encoding="utf-8")
        assert servers.compile(Path("served/a.tex"), Path("ours.dvi"), sample.formats)
        ours = (folder / "ours.dvi").read_bytes()
        command = ["latex", "-interaction=batchmode", "-halt-on-error", "a.tex"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        assert _without_date(ours) == _without_date((folder / "a.dvi").read_bytes())


def _without_date(dvi_file: bytes) -> bytes:
    return dvi_file[15 + dvi_file[14] :]


@pytest.mark.parametrize(
    ("added", "name"),
    [("", "preamble.fmt"), (r"\usepackage{physics}", "preamble.fmt"), ("other", "latex.fmt")],
)
def test_latex_loads_a_format_that_has_read_what_the_preamble_begins_with(
    added: str, name: str, replaced: Started
) -> None:
    """Or else its own, without decompression."""
    template = TexTemplate(preamble=r"\usepackage{amsmath}") if added == "other" else TexTemplate()
    template.add_to_preamble("" if added == "other" else added)
    typesetting.begin_job()
    MathTex(r"x^2 + \frac{1}{7}", tex_template=template)
    assert replaced == ["latex"]
    assert replaced.formats == [name]


@pytest.mark.sampled(4, deep=2)
@pytest.mark.parametrize("name", ["amsmath.sty", "standalone.cfg", "physics.sty", "umsa.fd"])
def test_formats_are_not_used_where_latex_would_find_other_files(
    name: str, replaced: Started, folder: Path
) -> None:
    typesetting.begin_job()
    (folder / name).write_text("")
    with suppress(ValueError):
        MathTex(r"x^2 + \frac{1}{8}")
    assert replaced[0] == "latex"
    assert replaced.formats == ([] if name != "physics.sty" else ["preamble.fmt"])


@pytest.mark.deep
def test_formats_of_an_updated_installation_are_new(
    folder: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who still has the earlier ones loads LaTeX's own."""
    formats = sample.formats
    assert formats is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    first = tex_formats.provide(formats.preamble, "1" * 64, formats.names)
    assert first is not None
    assert first.find(formats.preamble) == (first.folder / "preamble.fmt", "")
    made = (first.folder / "preamble.fmt").stat().st_mtime_ns
    assert tex_formats.provide(formats.preamble, "1" * 64, formats.names) == first
    assert (first.folder / "preamble.fmt").stat().st_mtime_ns == made
    second = tex_formats.provide(formats.preamble, "2" * 64, formats.names)
    assert second is not None
    assert second.find("another preamble") == (second.folder / "latex.fmt", "another preamble")
    assert first.find(formats.preamble) is None


def test_files_are_found_as_without_the_library(folder: Path) -> None:
    """Which fills the index of TeX's files in another way: all with a name are found, in the same order."""
    names = ["README", "cmr10.tfm", "cmr10.pfb", "amsmath.sty", "README.md", "no-such-file", "psfonts.map"]
    found = [
        subprocess.run(
            ["kpsewhich", "-all", *names], env=os.environ | more, capture_output=True, check=False
        ).stdout
        for more in ({}, {"LD_PRELOAD": str(tex_server._PRELOADED)})
    ]
    assert found[0].count(b"\n") > 4
    assert found[1] == found[0]


def test_numbers_letters_and_axes_start_no_program(replaced: list[str]) -> None:
    """They are known before the first job."""
    typesetting.begin_job()
    DecimalNumber(-3.14159, num_decimal_places=5, show_ellipsis=True, include_sign=True)
    Integer(1_234_567_890)
    NumberPlane().add_coordinates()
    axes = Axes(x_range=[-20, 100, 10], y_range=[0, 1, 0.25]).add_coordinates()
    axes.get_axis_labels("x", "y")
    axes.get_graph_label(axes.plot(lambda x: x), "f(x)")
    NumberLine(x_range=[-5, 5], include_numbers=True)
    IntegerMatrix([[1, 20], [-3, 4]])
    Matrix([["a", r"\alpha"], ["b", r"\beta"]], left_bracket="(", right_bracket=")")
    MathTex("=")
    Tex("x")
    assert replaced == []


def test_while_tex_is_held_only_what_is_known_is_set(replaced: list[str]) -> None:
    """No program is started."""
    held = SceneError("held", "tex")

    def hold() -> None:
        raise held

    typesetting.begin_job(hold)
    try:
        MathTex("x")
        with pytest.raises(SceneError) as raised:
            MathTex(r"\int_0^{17}")
        assert raised.value is held
        with pytest.raises(SceneError):
            Tex("text", tex_template=manim.TexTemplate(tex_compiler="xelatex", output_format=".xdv"))
        assert replaced == []
    finally:
        typesetting.begin_job()
    MathTex(r"\int_0^{17}")
    assert "latex" in replaced


@pytest.mark.deep
def test_known_expressions_are_what_latex_makes_of_them(folder: Path, sample: tex_sample.Sample) -> None:
    """All of them, to the last character of the SVG file."""
    typesetting.set_directly(sample)
    known, characters = typesetting._setting.known, typesetting._setting.characters
    assert known is not None
    assert len(known.pages) > 500
    servers = TexServers()
    result = folder / "one.dvi"
    for source in known.pages:
        (folder / "one.tex").write_text(source, encoding="utf-8")
        assert servers.compile(folder / "one.tex", result)
        assert characters.convert_known(known, source) == characters.convert(result.read_bytes())


@pytest.mark.sampled(6, deep=2)
@pytest.mark.parametrize("text", ["7", r"\alpha", "-12", "W", r"\sum", "|"])
def test_known_expressions_are_those_of_manim(
    text: str, replaced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With latex and dvisvgm of their own."""
    typesetting.begin_job()
    ours = _points(MathTex(text))
    assert replaced == []
    assert ours == _without_replacements(monkeypatch, MathTex, text)


@pytest.mark.sampled(4, deep=2)
@pytest.mark.parametrize("change", ["variable", "file", "folder", "studio", "template"])
def test_expressions_are_not_known_in_other_surroundings(
    change: str, replaced: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LaTeX might find other files there."""
    if change == "studio":
        (folder / "studio").mkdir()
        (folder / "studio/amsmath.sty").write_text("")
        monkeypatch.setenv("TEXMFHOME", str(folder / "studio"))
    typesetting.begin_job()
    template = None
    match change:
        case "variable":
            monkeypatch.setenv("TEXINPUTS", ".:")
        case "file":
            (folder / "standalone.cfg").write_text("")
        case "folder":
            monkeypatch.chdir("/tmp")
            monkeypatch.chdir(folder)
            (folder / "amssymb.sty").symlink_to("/dev/null")
        case "template":
            template = TexTemplate(preamble=r"\usepackage{amsmath}\everymath{\scriptstyle}")
    with suppress(ValueError):
        MathTex("8", tex_template=template)
    assert replaced[0] == "latex"


def test_other_characters_are_learnt_once(replaced: list[str]) -> None:
    """Each unknown font leads to one conversion by dvisvgm."""
    for number in range(3):
        Tex(rf"\textsc{{capitals {'i' * number}}}")
    assert replaced.count("dvisvgm") == 1


def test_expressions_do_not_influence_later_ones(
    replaced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if they change macros, counters and files globally."""
    MathTex(r"\gdef\alpha{X} \global\fontdimen22\textfont2=9pt \stepcounter{page} x\label{a}")
    text = r"\alpha + \frac{1}{2} \thepage"
    assert _points(MathTex(text)) == _without_replacements(monkeypatch, MathTex, text)


@pytest.mark.deep
def test_each_template_has_its_own_preamble(replaced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Even more templates than there are servers."""
    found = []
    for number in range(6):
        template = TexTemplate(preamble=rf"\usepackage{{amsmath}}\newcommand\mine{{{number}}}% comment")
        found.append(_points(MathTex(r"\mine", tex_template=template)))
    assert found == [_without_replacements(monkeypatch, MathTex, str(number)) for number in range(6)]


def test_errors_are_those_of_latex(replaced: list[str]) -> None:
    """Also in the preamble, and correct expressions still work afterwards."""
    for template in [None, TexTemplate(preamble=r"\usepackage{no-such-package}")]:
        text = r"x\foo" if template is None else "x"
        with pytest.raises(ValueError, match="latex error converting to dvi") as raised:
            MathTex(text, tex_template=template)
        found = tex_errors.read(raised.value)
        assert found is not None
        expected = "Undefined control sequence \\foo" if template is None else "no-such-package"
        assert expected in found.message
    assert len(MathTex("x")[0]) == 1


def test_a_missing_latex_is_named(replaced: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As without the replacements."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(FileNotFoundError) as raised:
        MathTex("x")
    assert str(tex_errors.read(raised.value)) == "TeX: the program 'latex' isn't there."


def test_a_dead_server_is_bypassed(replaced: list[str]) -> None:
    """Later expressions are compiled one by one."""
    MathTex("x")
    _kill_servers()
    assert len(MathTex("x + y")[0]) == 3
    assert len(MathTex("x - y")[0]) == 3
    assert replaced == ["latex"] * 3


def test_a_server_that_dies_need_not_be_signaled(
    replaced: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the reduced level, a job may only signal itself."""
    refused = 0

    def refuse(_: object) -> None:
        nonlocal refused
        refused += 1
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    MathTex("x")
    monkeypatch.setattr(subprocess.Popen, "kill", refuse)
    _kill_servers()
    assert len(MathTex("x + y")[0]) == 3
    assert refused == 1


def _kill_servers() -> None:
    for server in latex_servers():
        os.kill(server, signal.SIGKILL)


def test_forks_of_a_scene_set_expressions_without_its_server(replaced: list[str]) -> None:
    """Two processes at one server would mix up their documents."""
    MathTex("x")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if len(MathTex("a + b + c")[0]) == 5 else 2
        finally:
            os._exit(code)
    assert len(MathTex("x + y")[0]) == 3
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    "text", [r"\special{ps: 1 setlinewidth}x", r"\special{color push rgb 1 0 0}x", r"\hskip 1pt"]
)
def test_pages_with_anything_else_are_left_to_dvisvgm(
    text: str, folder: Path, sample: tex_sample.Sample
) -> None:
    """PostScript, colours, and pages without characters."""
    characters = typesetting.Characters()
    characters.learn(sample.data, sample.svg)
    assert characters.convert(_dvi(folder, "x")) is not None
    assert characters.convert(_dvi(folder, text)) is None


def test_a_damaged_file_is_left_to_dvisvgm(folder: Path, sample: tex_sample.Sample) -> None:
    """Cut off anywhere, or with wrong bytes: no conversion raises an error."""
    characters = typesetting.Characters()
    characters.learn(sample.data, sample.svg)
    data = _dvi(folder, f"${EXPRESSIONS[0]}$")
    assert [characters.convert(data[:length]) for length in range(len(data) - 8)] == [None] * (len(data) - 8)
    chance = random.Random(1)
    for _ in range(2000):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] = chance.randrange(256)
        characters.convert(bytes(damaged))


def test_a_font_is_not_used_if_the_conversion_differs(folder: Path) -> None:
    """For example with a dvisvgm that writes its files differently."""
    data = _dvi(folder, "x")
    svg = _svg(folder)
    characters = typesetting.Characters()
    characters.learn(data, svg.replace("viewBox='", "viewBox=' "))
    assert characters.convert(data) is None
    characters.learn(data, svg)
    assert characters.convert(data) is None
    fresh = typesetting.Characters()
    fresh.learn(data, svg)
    assert fresh.convert(data) is not None


def test_metrics_are_those_of_the_font() -> None:
    """A lower-case letter without descender, in multiples of the font's size."""
    path = subprocess.run(
        ["kpsewhich", "cmr10.tfm"], capture_output=True, text=True, check=True
    ).stdout.strip()
    width, height, depth = dvi.Metrics.read(Path(path)).boxes[ord("x")]
    assert [round(each, 6) for each in (width, height, depth)] == [0.527781, 0.430555, 0.0]


def _dvi(folder: Path, text: str) -> bytes:
    (folder / "a.tex").write_text(DOCUMENT(text, "center"), encoding="utf-8")
    subprocess.run(
        ["latex", "-interaction=batchmode", "a.tex"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    return (folder / "a.dvi").read_bytes()


def _svg(folder: Path) -> str:
    subprocess.run(["dvisvgm", "--no-fonts", "--verbosity=0", "a.dvi"], cwd=folder, check=True)
    svg = (folder / "a.svg").read_text(encoding="utf-8")
    assert re.search("viewBox='", svg)
    return svg
