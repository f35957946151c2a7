"""What a scene will ask for is compiled ahead, and changes nothing but the time."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import manim
import pytest
from manim import TexTemplate

from client import Zygote, render_job
from scene_renderer.tex import prepared
from scene_renderer.tex.ahead import Ahead
from scene_renderer.tex.literals import literals_of
from scene_renderer.tex.server import BEGIN

SCENE = "from manim import *\nclass Demo(Scene):\n    def construct(self):\n"


def _bodies(code: str, name: str = "Demo") -> list[str]:
    documents = literals_of(code, name, manim.config["tex_template"]).documents
    return [document.partition(BEGIN)[2] for document in documents]


def _found(*lines: str) -> list[str]:
    return _bodies(SCENE + "".join(f"        {line}\n" for line in lines))


def _asked(code: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """What the mobjects of some lines ask Manim for."""
    asked = []
    template = TexTemplate()

    class Recording(TexTemplate):
        def get_texcode_for_expression_in_env(self, expression: str, environment: str) -> str:
            asked.append(template.get_texcode_for_expression_in_env(expression, environment))
            return asked[-1]

        def get_texcode_for_expression(self, expression: str) -> str:
            asked.append(template.get_texcode_for_expression(expression))
            return asked[-1]

    monkeypatch.setattr(manim.config, "media_dir", str(folder))
    with manim.tempconfig({"tex_template": Recording()}):
        exec(code, vars(manim).copy())
    return [document.partition(BEGIN)[2] for document in asked]


@pytest.mark.parametrize(
    "lines",
    [
        ['MathTex(r"x^2", "= 4")'],
        ['Tex("one", "two", font_size=30)'],
        ['MathTex("a b c", substrings_to_isolate=["b"])'],
        ['MathTex("a + b", tex_to_color_map={"a": RED, "b": BLUE})'],
        [r'MathTex("{{ a }} + {{ b }}", tex_environment="gather*")'],
        ['Title("A title")'],
        ['BulletedList("first", "second", height=2)'],
        ['for line in ["a", "b^2"]:', "    MathTex(line)"],
        ['[MathTex(text) for text in ("p", "q", "r")]'],
        [
            'lines = [["a", "+ b"], ["c", "= d", "- e"]]',
            "MathTex(*lines[0])",
            "for x in lines[1:]: MathTex(*x)",
        ],
        ['steps = ["u", "v", "w"]', "for i, step in enumerate(steps): MathTex(step)"],
        ["for i in range(3): MathTex(f'x_{i}')"],
        ['for a, b in [("x", "y"), ("1", "2")]: MathTex(a, b)'],
        ["def name(text): return Tex(text)", 'name("first")', 'name("second")'],
        ['big = "E" + " = mc^2"', "MathTex(big)"],
        ["MathTex(7)"],
    ],
)
@pytest.mark.sampled(4)
def test_literals_are_found(lines: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exactly the documents that Manim makes of them, except the dots of lists, which are known anyway."""
    asked = _asked("\n".join(lines), monkeypatch, tmp_path)
    assert sorted(_found(*lines)) == sorted(each for each in asked if r"\cdot" not in each)


@pytest.mark.parametrize(
    "line",
    [
        "MathTex(text)",
        "MathTex(*parts())",
        "MathTex(f'{x:.2f}')",
        'MathTex("x", tex_template=mine)',
        'MathTex("x", **settings)',
        "x = x + x; MathTex(x)",
        'Text("x")',
        "MathTex(",
    ],
)
def test_everything_else_is_left(line: str) -> None:
    """What is computed, or not Python."""
    assert _found(line) == []


def test_only_what_the_class_needs_is_found() -> None:
    """Not the formulas of other scenes in the source."""
    code = """
from manim import *
TITLE = "the title"
def helper():
    return MathTex("of a function")
class Base(Scene):
    def construct(self):
        Tex("of the base", TITLE)
class Other(Scene):
    def construct(self):
        MathTex("of another")
class Demo(Base):
    def construct(self):
        super().construct()
        helper()
"""
    found = "".join(_bodies(code))
    assert "of a function" in found
    assert "of the base" in found
    assert "the title" in found
    assert "of another" not in found


@pytest.mark.parametrize("setting", ["config.tex_template = mine", 'config["tex_template"] = mine'])
def test_nothing_is_found_with_another_template(setting: str) -> None:
    """For all expressions."""
    assert _found(setting, 'MathTex("x^2")') == []


def test_a_source_is_not_analysed_for_long() -> None:
    """Names that stand for one another, many times."""
    many = ["x0 = ['a', 'b']"]
    many += [f"x{n + 1} = [*x{n}, x{n}[0], x{n}[1]] if x{n} else x{n} + x{n}" for n in range(300)]
    many += [f"for y{n} in x{n}: MathTex(y{n}, f'{{y{n}}}{{y{n}}}{{y{n}}}')" for n in range(300)]
    assert len(_found(*many)) <= 100
    assert len(_found(*(f'MathTex("{number} + 1")' for number in range(500)))) == 100


class _Compiler:
    """Compiles when it is told to."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.compiled: list[str] = []

    def compile(self, document: str) -> bytes | None:
        self.compiled.append(document)
        self.begun.set()
        assert self.go_on.wait(60)
        if document == "fails":
            raise RuntimeError("dictionary changed size during iteration")
        return None if document == "wrong" else document.encode()


@pytest.fixture
def compiler() -> Iterator[_Compiler]:
    made = _Compiler()
    yield made
    made.go_on.set()


def _end(ahead: Ahead) -> None:
    assert ahead._thread is not None
    ahead._thread.join(60)
    assert not ahead._thread.is_alive()


def test_results_are_given_once(compiler: _Compiler) -> None:
    compiler.go_on.set()
    ahead = Ahead(compiler.compile)
    ahead.begin(lambda: ["a", "wrong", "a", "fails", "b"])
    _end(ahead)
    assert compiler.compiled == ["a", "wrong", "fails", "b"]
    assert [ahead.take(each) for each in ("b", "a", "a", "wrong", "c")] == [b"b", b"a", None, None, None]


def test_nothing_is_printed_when_nothing_is_found(
    compiler: _Compiler, capfd: pytest.CaptureFixture[str]
) -> None:
    """The output is the scene's."""
    ahead = Ahead(compiler.compile)

    def fail() -> list[str]:
        raise RuntimeError("dictionary changed size during iteration")

    ahead.begin(fail)
    _end(ahead)
    assert ahead.take("a") is None
    assert capfd.readouterr() == ("", "")


def test_what_the_scene_asks_for_comes_first(compiler: _Compiler) -> None:
    """It waits only for the document that is being compiled; what it compiles itself isn't compiled again."""
    ahead = Ahead(compiler.compile)
    ahead.begin(lambda: ["a", "b", "c"])
    assert compiler.begun.wait(60)
    assert ahead.take("b") is None
    threading.Timer(0.05, compiler.go_on.set).start()
    assert ahead.take("a") == b"a"
    _end(ahead)
    assert compiler.compiled == ["a", "c"]


def test_nothing_is_compiled_after_the_end(compiler: _Compiler) -> None:
    ahead = Ahead(compiler.compile)
    ahead.begin(lambda: ["a", "b"])
    assert compiler.begun.wait(60)
    ahead.stop()
    compiler.go_on.set()
    _end(ahead)
    assert compiler.compiled == ["a"]


def test_forks_of_a_scene_do_not_wait_for_the_thread(compiler: _Compiler) -> None:
    """Which they don't have."""
    ahead = Ahead(compiler.compile)
    ahead.begin(lambda: ["a"])
    assert compiler.begun.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if ahead.take("a") is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_errors_appear_where_the_scene_asks(zygote: Zygote, tmp_path: Path) -> None:
    """With TeX's message and the line, although the wrong formula was compiled ahead."""
    code = SCENE + '        print("before")\n        MathTex(r"x^2 \\foo")\n'
    outcome = zygote.run(tmp_path, render_job(code))
    assert "Undefined control sequence \\foo" in outcome.error
    assert "line 5" in outcome.error
    text = "".join(report["text"] for report in outcome.of_type("output"))
    assert text.startswith("before\nERROR: LaTeX compilation error: Undefined control sequence.")
    assert text.count("LaTeX compilation error") == 1


def test_wrong_formulas_that_are_not_asked_for_do_no_harm(zygote: Zygote, tmp_path: Path) -> None:
    code = (
        SCENE
        + '        if False: MathTex(r"x^2 \\foo")\n        self.add(MathTex("a + b"))\n        self.wait()\n'
    )
    assert zygote.run(tmp_path, render_job(code)).length == (10, 1.0)


def test_an_endless_formula_that_is_not_asked_for_does_not_delay_the_end(
    zygote: Zygote, tmp_path: Path
) -> None:
    """Documents that could be endless are not compiled ahead."""
    endless = r'if False: MathTex(r"\loop\iftrue\repeat")'
    code = SCENE + f'        {endless}\n        self.add(MathTex("a + b + c"))\n        self.wait()\n'
    assert zygote.run(tmp_path, render_job(code)).length == (10, 1.0)


def test_jobs_use_the_format_in_the_sandbox(any_zygote: Zygote, tmp_path: Path) -> None:
    """Also for a formula that was not found ahead; each job starts a LaTeX of its own."""
    code = (
        SCENE
        + """
        MathTex(str(17 * 17) + "+ x")
        from scene_renderer.tex import typesetting
        for server in typesetting._setting.servers._servers.values():
            print(server and [each for each in server._server.args if "fmt" in each])
        self.wait()
"""
    )
    outcome = any_zygote.run(tmp_path, render_job(code))
    (report,) = outcome.of_type("output")
    assert report["text"].count("preamble.fmt") == 1
    assert report["text"].count("\n") == 1


def test_a_scene_cannot_change_the_prepared_formats(any_zygote: Zygote, tmp_path: Path) -> None:
    """It sees them, and later jobs get the same ones."""
    _assert_unchangeable(prepared.FOLDER, any_zygote, tmp_path)


@pytest.mark.parametrize("options", [(), ("--without=namespaces",)], ids=["isolated", "exposed"])
@pytest.mark.deep
def test_a_scene_cannot_change_formats_of_its_zygote(options: tuple[str, ...], tmp_path: Path) -> None:
    """Which makes them when TeX is another one than that of the prepared ones."""
    changed, cache = tmp_path / "changed", tmp_path / "cache"
    (job := tmp_path / "job").mkdir()
    changed.mkdir()
    own = Path(subprocess.check_output(["kpsewhich", "amsbsy.sty"], text=True).strip())
    (changed / own.name).write_text(f"{own.read_text()}%\n")
    zygote = Zygote(*options, environment={"XDG_CACHE_HOME": str(cache), "TEXINPUTS": f"{changed}:"})
    (formats,) = cache.glob("tex-formats/*")
    _assert_unchangeable(formats, zygote, job)
    assert zygote.close() == 0


def _assert_unchangeable(folder: Path, zygote: Zygote, job_folder: Path) -> None:
    attack = """
import os
from pathlib import Path
from manim import *
class Demo(Scene):
    def construct(self):
        file = Path("%s") / "preamble.fmt"
        file.open("rb").close()
        attempts = {
            "write": lambda: open(file, "r+b").write(b"x"),
            "truncate": lambda: os.truncate(file, 0),
            "replace": lambda: os.replace("scene.py", file),
            "remove": lambda: file.unlink(),
            "rename": lambda: file.parent.rename(file.parent.parent / "other"),
            "add": lambda: (file.parent.parent / ("3" * 64)).mkdir(),
            "link": lambda: os.link(file, "linked"),
            "permit": lambda: os.chmod(file, 0o666) or open(file, "ab").write(b"x"),
        }
        for name, attempt in attempts.items():
            try:
                attempt()
            except OSError:
                continue
            print("succeeded:", name)
        self.wait()
"""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    modes = {path: path.stat().st_mode for path in before}
    assert {"preamble.fmt", "latex.fmt"} <= {path.name for path in before}
    outcome = zygote.run(job_folder, render_job(attack % folder))
    assert outcome.result["type"] == "done", outcome.result
    assert outcome.of_type("output") == []
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert {path: path.stat().st_mode for path in before} == modes
