"""Expressions that are kept from one job to another: they are right, or they aren't there."""

import hashlib
import random
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import manim
import pytest
from manim import MathTex, Tex, TexTemplate, TexTemplateLibrary
from manim.mobject.svg.svg_mobject import SVG_HASH_TO_MOB_MAP
from manim.utils import tex_file_writing

from client import latex_servers
from programs import note_programs
from scene_renderer import tex, tex_fill, tex_pack, tex_sample
from scene_renderer.messages import JobLimits, TexJob
from scene_renderer.tex_format import Formats
from scene_renderer.tex_pack import Kept, Pack, packed
from scene_renderer.tex_server import TexServers

_MANIMS_COMPILE = tex_file_writing.compile_tex
_MANIMS_CONVERT = tex_file_writing.convert_to_svg
_LIMITS = JobLimits(0, 0, 0, 0, 0, 0, 0)
_NAMES = frozenset({"amsmath.sty", "cmr10.tfm"})
DOCUMENT = manim.config["tex_template"].get_texcode_for_expression_in_env
_FORMULA = (
    r"\special{dvisvgm:raw <g id='unique000'>}"
    r"\left[\begin{array}{c}\frac{1}{\sqrt{x}} \\ \vec{v} \end{array}\right]"
    r"\special{dvisvgm:raw </g>}\special{dvisvgm:raw <g id='unique000substring'>}"
    r"= \text{if } \sum_{n=1}^\infty \lim_{x \to 0}\special{dvisvgm:raw </g>}"
)


@pytest.fixture(scope="session")
def sample() -> tex_sample.Sample:
    result = tex_sample.Conversion().result()
    assert result is not None
    return result


@pytest.fixture
def started(
    tmp_path: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """The programs that are started, in a process that is like a zygote."""
    programs: list[str] = []
    tex.set_directly(sample)
    monkeypatch.setattr(manim.config, "media_dir", "media")
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    note_programs(monkeypatch, lambda args: programs.append(args[0]))
    yield programs
    tex_file_writing.compile_tex = _MANIMS_COMPILE
    tex_file_writing.convert_to_svg = _MANIMS_CONVERT


class _Owner:
    """Jobs of one owner, each in a folder of its own."""

    def __init__(self, place: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pack = b""
        self._place = place
        self._sample = sample
        self._monkeypatch = monkeypatch
        self._jobs = 0

    def begin(self) -> Path:
        SVG_HASH_TO_MOB_MAP.clear()
        self._jobs += 1
        folder = self._place / f"{self._jobs}"
        folder.mkdir()
        if self.pack:
            (folder / tex_pack.NAME).write_bytes(self.pack)
        self._monkeypatch.chdir(folder)
        tex.set_directly(self._sample)
        tex.begin_job()
        return folder

    def keep(self, documents: list[str]) -> None:
        folder = self.begin()
        tex_fill.fill(TexJob(documents, _LIMITS))
        new = folder / tex_fill.NEW_NAME
        if new.exists():
            self.pack = new.read_bytes()


@pytest.fixture
def owner(
    started: list[str], tmp_path: Path, sample: tex_sample.Sample, monkeypatch: pytest.MonkeyPatch
) -> _Owner:
    return _Owner(tmp_path, sample, monkeypatch)


def _points(mobject: manim.VMobject) -> list[bytes]:
    return [member.points.tobytes() for member in mobject.get_family()]


def test_the_next_job_starts_no_program(owner: _Owner, started: list[str]) -> None:
    """And gets the same curves and the same SVG file."""
    folder = owner.begin()
    first = [MathTex(r"\int_0^1 f", "= 1"), Tex(r"\textsc{Capitals} $\mathbb{R}$")]
    files = {path.name: path.read_bytes() for path in folder.glob("media/Tex/*.svg")}
    documents = tex.compiled()
    assert len(documents) == 2
    owner.keep(documents)
    folder = owner.begin()
    started.clear()
    again = [MathTex(r"\int_0^1 f", "= 1"), Tex(r"\textsc{Capitals} $\mathbb{R}$")]
    assert started == []
    assert tex.compiled() == []
    assert list(map(_points, again)) == list(map(_points, first))
    assert {
        path.name: _without_font_numbers(path.read_bytes()) for path in folder.glob("media/Tex/*.svg")
    } == {name: _without_font_numbers(data) for name, data in files.items()}


def _without_font_numbers(svg: bytes) -> list[bytes]:
    """Also without the comment and the order of outlines, which differ between dvisvgm's file and ours."""
    return sorted(re.sub(rb"g\d+-", b"g-", line) for line in svg.splitlines() if not line.startswith(b"<!--"))


def test_a_second_fill_adds_to_the_first(owner: _Owner) -> None:
    """And does nothing if there is nothing new."""
    one, two = DOCUMENT("one $x$", "center"), DOCUMENT("two $x$", "center")
    owner.keep([one])
    owner.keep([two, one])
    before = owner.pack
    owner.keep([one, two])
    assert owner.pack is before
    owner.begin()
    assert set(tex.kept()) == {tex_pack.key_of(one), tex_pack.key_of(two)}


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
        r"\undefined",
        r"$x",
        r"\usepackage{amsmath}",
    ],
)
@pytest.mark.sampled(4)
def test_expressions_that_depend_on_anything_are_not_kept(expression: str, owner: _Owner) -> None:
    """And those with errors."""
    owner.keep([DOCUMENT(expression, "center"), DOCUMENT("fine: $x$", "center")])
    owner.begin()
    assert set(tex.kept()) == {tex_pack.key_of(DOCUMENT("fine: $x$", "center"))}


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
@pytest.mark.sampled(4)
def test_preambles_that_depend_on_anything_are_not_kept(line: str, expression: str, owner: _Owner) -> None:
    """Such as a command of the author that expands to the date."""
    source = TexTemplate().add_to_preamble(line).get_texcode_for_expression_in_env(expression, "center")
    owner.keep([source, DOCUMENT("fine: $x$", "center")])
    owner.begin()
    assert set(tex.kept()) == {tex_pack.key_of(DOCUMENT("fine: $x$", "center"))}


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
@pytest.mark.deep
def test_common_documents_are_cached(template: TexTemplate, owner: _Owner) -> None:
    """With Manim's templates and packages of signs."""
    tables = "tabular}{|c|c|", r"\hline 1 & \textbf{2} \\ \hline"
    sources = [
        template.get_texcode_for_expression_in_env(expression, environment)
        for environment, expression in (
            ("align*", _FORMULA),
            ("center", r"\'Etude \& caf\'e, $100\,\% \mathbb{R}$"),
            tables,
        )
    ]
    owner.keep(sources)
    owner.begin()
    assert set(tex.kept()) == set(map(tex_pack.key_of, sources))


_HOSTILE = DOCUMENT(
    r"\newwrite\f\immediate\openout\f=%s\relax\immediate\write\f{\unexpanded{"
    r"\DeclareFontFamily{U}{msb}{}\DeclareFontShape{U}{msb}{m}{n}{<->cmr10}{}}}\immediate\closeout\f x",
    "center",
)


@pytest.mark.parametrize("name", ["umsb.fd", "./umsb.fd"])
def test_a_document_does_not_change_how_the_next_one_is_set(name: str, owner: _Owner) -> None:
    """By a file that LaTeX finds before that of its installation."""
    victim = DOCUMENT(r"E = mc^2 \mathbb{R}", "align*")
    owner.keep([victim])
    owner.begin()
    right = tex._setting.find(victim)
    assert right is not None
    owner.pack = b""
    written = re.sub(r"\\(?=[a-zA-Z])", "^^5c", _HOSTILE.partition("center}\n")[2].partition("\n")[0])
    owner.keep([DOCUMENT(written % name, "center"), victim])
    owner.begin()
    assert tex._setting.find(victim) == right


@pytest.mark.parametrize("place", ["", "./", "{folder}/"])
def test_nothing_is_kept_beside_a_file_that_a_document_has_left(
    place: str, owner: _Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if that document looked harmless."""
    monkeypatch.setattr(tex_fill, "is_repeatable", lambda _: True)
    first, victim = DOCUMENT("first", "center"), DOCUMENT(r"E = mc^2 \mathbb{R}", "align*")
    folder = owner.begin()
    monkeypatch.setenv("TEXMFOUTPUT", str(folder.parent))
    place = place.format(folder=folder.parent / "2")
    owner.keep([first, _HOSTILE % f"{place}umsb.fd", victim])
    assert list(folder.parent.glob("2/**/umsb.fd"))
    assert owner.pack == b""


def test_a_document_does_not_change_how_those_with_another_preamble_are_set(
    owner: _Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a file with a name that the next compilation uses itself."""
    monkeypatch.setattr(tex_fill, "is_repeatable", lambda _: True)
    victim = DOCUMENT(r"x \hbar", "align*")
    owner.keep([victim])
    owner.begin()
    right = tex._setting.find(victim)
    assert right is not None
    owner.pack = b""
    stray = r"\immediate\openout9=served-1.aux \immediate\write9{\gdef\string\hbar{x}}\immediate\closeout9 x"
    another = TexTemplate().add_to_preamble(r"\usepackage{xcolor}")
    hostile = another.get_texcode_for_expression_in_env(stray, "center")
    owner.keep([hostile, victim])
    owner.begin()
    assert tex._setting.find(victim) == right


@pytest.mark.parametrize("name", ["amsmath.sty", "cmr10.tfm", "ucmr.fd", "standalone.cfg", "texmf"])
def test_nothing_is_taken_where_latex_would_find_other_files(name: str, owner: _Owner) -> None:
    """In the scene's folder."""
    owner.keep([DOCUMENT("fine: $x$", "center")])
    folder = owner.begin()
    source = DOCUMENT("fine: $x$", "center")
    assert tex._setting.find(source) is not None
    (folder / name).write_text("")
    assert tex._setting.find(source) is None
    assert tex.compiled() == []


def test_an_expression_that_never_ends_does_not_prevent_others(
    owner: _Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its LaTeX is ended."""
    monkeypatch.setattr(tex_fill, "is_repeatable", lambda _: True)
    compile_in = TexServers.compile

    def compile_within_a_second(
        self: TexServers, source: Path, result: Path, formats: Formats | None = None
    ) -> bool:
        for server in latex_servers():
            resource.prlimit(server, resource.RLIMIT_CPU, (1, 1))
        return compile_in(self, source, result, formats)

    monkeypatch.setattr(TexServers, "compile", compile_within_a_second)
    endless, fine = DOCUMENT(r"\loop\iftrue\repeat", "center"), DOCUMENT("fine: $x$", "center")
    owner.keep([DOCUMENT("first", "center"), endless, fine])
    owner.begin()
    assert tex_pack.key_of(fine) in tex.kept()
    assert tex_pack.key_of(endless) not in tex.kept()


def test_another_installation_has_other_expressions(owner: _Owner) -> None:
    """An update of TeX may set them differently."""
    owner.keep([DOCUMENT("fine: $x$", "center")])
    folder = owner.begin()
    assert Pack.read(folder / tex_pack.NAME, tex.installation()) is not None
    assert Pack.read(folder / tex_pack.NAME, "another") is None


def _some() -> dict[str, Kept]:
    return {tex_pack.key_of(str(number)): Kept.of(f"<svg>{number}</svg>" * 9, _NAMES) for number in range(20)}


def test_a_damaged_file_has_no_wrong_expressions(tmp_path: Path) -> None:
    """Cut off anywhere, or with wrong bytes: an expression is right, or it isn't there."""
    entries = _some()
    data = packed(entries, "here")
    expected = {key: kept.svg() for key, kept in entries.items()}
    path = tmp_path / tex_pack.NAME
    chance = random.Random(1)
    for number in range(1500):
        damaged = bytearray(data)
        if number % 2:
            damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        else:
            del damaged[chance.randrange(len(data)) :]
        path.write_bytes(damaged)
        pack = Pack.read(path, "here")
        found = {} if pack is None else {key: kept.svg() for key, kept in pack.all().items()}
        assert found.items() <= expected.items()
    path.write_bytes(data)
    pack = Pack.read(path, "here")
    assert pack is not None
    assert {key: kept.svg() for key, kept in pack.all().items()} == expected


@pytest.mark.parametrize(
    "index",
    [
        b"[]",
        b"null",
        b"{}",
        b'{"installation":"here"}',
        b'{"installation":"here","entries":[],"names":7}',
        b'{"installation":"here","entries":{"k":[-5,9,"","x"]},"names":[["a"]]}',
        b'{"installation":"here","entries":{"k":{}},"names":[]}',
        b"[" * 100_000,
    ],
)
def test_a_strange_index_is_no_error(index: bytes, tmp_path: Path) -> None:
    """With a right checksum, too."""
    path = tmp_path / tex_pack.NAME
    path.write_bytes(
        b"scenepress tex 2\n" + len(index).to_bytes(4, "big") + hashlib.sha256(index).digest() + index
    )
    pack = Pack.read(path, "here")
    assert pack is None or pack.find("k") is None


def test_the_file_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    """Also in what an expression becomes when it is unpacked."""
    chance = random.Random(2)
    entries = {tex_pack.key_of(str(n)): Kept(chance.randbytes(100_000), _NAMES) for n in range(120)}
    data = packed(entries, "here")
    assert len(data) <= tex_pack.BYTES_MAX
    (tmp_path / "pack").write_bytes(data)
    pack = Pack.read(tmp_path / "pack", "here")
    assert pack is not None
    kept = list(pack.all())
    assert kept == list(entries)[-len(kept) :]
    assert 60 < len(kept) < 120
    many = {tex_pack.key_of(str(n)): Kept(b"x", _NAMES) for n in range(9000)}
    assert len(packed(many, "here")) < tex_pack.BYTES_MAX
    assert Kept.of("x" * (4 * 1024 * 1024 + 1), _NAMES).svg() is None
