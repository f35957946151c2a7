"""The files of a job, which its scene may read."""

import socket
import wave
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from client import Zygote, check_job, fork_command, list_job, read_job, render_job
from sources import scene

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="2"/></svg>'
MONO = Path("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf")
OURS = "Ours for One Job"
# For `above`: what an attempt failed by, or "it worked".
TRY = """
import os
from pathlib import Path

def tried(attempt, *values):
    try:
        attempt(*values)
    except OSError as error:
        return error.errno
    return "it worked"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with some files of each kind, as the service leaves it."""
    folder = tmp_path / "files"
    for name in ("a/b", "media/pictures", "fonts"):
        (folder / name).mkdir(parents=True)
    Image.new("RGB", (8, 4), "red").save(folder / "logo.png")
    (folder / "a/b/mark.svg").write_text(SVG)
    (folder / "media/pictures/mark.svg").write_text(SVG)
    (folder / "data.csv").write_text("1,2\n")
    (folder / "helper.py").write_text(
        "def half(number):\n    return number // 0 if number < 0 else number / 2\n"
    )
    (folder / "ours.sty").write_text("\\ProvidesPackage{ours}\\newcommand{\\ours}{OURS}\n")
    with wave.open(str(folder / "intro.wav"), "wb") as sound:
        sound.setparams((1, 2, 8000, 800, "NONE", ""))
        sound.writeframes(bytes(1600))
    protect(folder)
    return folder


def protect(folder: Path) -> None:
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o444)


def font(family: str) -> bytes:
    """A monospaced font with another name for its family, of equal length."""
    data, name = MONO.read_bytes(), "DejaVu Sans Mono"
    assert len(family) == len(name)
    for encoding in ("latin-1", "utf-16-be"):
        data = data.replace(name.encode(encoding), family.encode(encoding))
    return data


def job_folder(tmp_path: Path, name: str = "job") -> Path:
    (folder := tmp_path / name).mkdir()
    return folder


EVERY_KIND = """
from helper import half
self.add(ImageMobject("logo.png"), SVGMobject("a/b/mark.svg"), SVGMobject("media/pictures/mark.svg"))
assert open("data.csv").read() == "1,2\\n"
assert half(4) == 2
assert (Path(__file__).parent / "data.csv").exists()
template = TexTemplate(preamble=r"\\usepackage{amsmath}\\usepackage{ours}")
self.add(Tex(r"\\ours", tex_template=template))
self.add_sound("intro.wav")
Path("new.txt").write_text("new")
Path("a-new-folder").mkdir()
self.wait(0.1)
"""


def test_a_scene_reads_files_of_every_kind(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    job = render_job(scene(EVERY_KIND, above="from pathlib import Path"))
    outcome = any_zygote.run(job_folder(tmp_path), job, job_files=files)
    assert outcome.length == (1, 0.1)
    assert outcome.of_type("output") == []


def test_the_files_are_there_in_runs_of_every_kind(
    zygote: Zygote, portrait_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    code = scene(EVERY_KIND, above="from pathlib import Path\nfrom helper import half")
    still = {"at": "last", "value": 0}
    jobs = (render_job(code, still=still), render_job(code, inspect=144), check_job(code), list_job(code))
    results = [
        zygote.run(job_folder(tmp_path, f"{number}"), job, job_files=files).result["type"]
        for number, job in enumerate(jobs)
    ]
    assert results == ["done", "encoded", "checked", "scenes"]
    portrait = render_job(code, widthPx=72, heightPx=128)
    assert portrait_zygote.run(job_folder(tmp_path), portrait, job_files=files).length == (1, 0.1)


@pytest.mark.sampled(2)
def test_nothing_is_changed_in_the_files(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    """EACCES or EROFS, whatever a scene tries."""
    body = """
        place = Path(os.environ["SCENEPRESS_SCENE_FOLDER"])
        for name in ("data.csv", "a/b/mark.svg", "a/new.txt", place / "new.txt", place / "data.csv"):
            for mode in ("w", "a"):
                assert tried(open, name, mode) in (13, 30), (name, mode)
        assert tried(os.unlink, place / "data.csv") in (13, 30)
        assert tried(os.rename, "a/b/mark.svg", "mark.svg") in (13, 18, 30)
        assert tried(os.mkdir, "a/new") in (13, 30)
        assert tried(os.symlink, "x", "a/link") in (13, 30)
        assert tried(os.link, place / "data.csv", "linked") in (1, 13, 18, 30)
        assert tried(os.truncate, "data.csv", 0) in (1, 13, 30), tried(os.truncate, "data.csv", 0)
        tried(os.chmod, "data.csv", 0o777), tried(os.utime, "data.csv", (1, 1))
        os.unlink("data.csv")
        Path("data.csv").write_text("of the scene")
        self.wait(0.1)
    """
    before = {path: path.lstat() for path in files.rglob("*")}
    outcome = any_zygote.run(job_folder(tmp_path), render_job(scene(body, above=TRY)), job_files=files)
    assert outcome.length == (1, 0.1)
    after = {path: path.lstat() for path in files.rglob("*")}
    assert after.keys() == before.keys()
    kept = ("st_mode", "st_size", "st_mtime_ns", "st_nlink")
    assert all(getattr(after[path], name) == getattr(before[path], name) for path in before for name in kept)


@pytest.mark.sampled(2)
def test_files_are_not_executed(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    program = files / "program"
    program.write_bytes(Path("/usr/bin/true").read_bytes())
    program.chmod(0o755)
    body = """
        assert tried(subprocess.run, ["./program"]) == 13
        self.wait(0.1)
    """
    job = render_job(scene(body, above=f"{TRY}\nimport subprocess"))
    assert any_zygote.run(job_folder(tmp_path), job, job_files=files).length == (1, 0.1)


@pytest.mark.sampled(2)
def test_a_job_sees_the_files_of_no_other_and_nothing_beside_its_own(
    any_zygote: Zygote, zygote: Zygote, exposed_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    """The other job runs at the same time, as a check in another process, or ran before."""
    beside = exposed_zygote if any_zygote is zygote else zygote
    (other := tmp_path / "files-of-others").mkdir()
    (other / "secret").write_text("secret")
    (files / "out").symlink_to(other / "secret")
    (files / "up").symlink_to("../files-of-others")
    body = f"""
        places = [{str(other)!r}, {str(other / "secret")!r}, "out", "up", "up/secret"]
        place = os.environ.get("SCENEPRESS_SCENE_FOLDER")
        places += [f"{{place}}/../files-of-others/secret", f"{{place}}/out"] if place else [
            {str(files)!r}, {str(files / "data.csv")!r}, "/scenepress/files", "data.csv", "helper.py"
        ]
        for place in places:
            assert tried(lambda: os.listdir(place) if os.path.isdir(place) else open(place)) in (2, 13), place
        self.wait(0.1)
    """
    job = render_job(scene(body, above=TRY))
    waiting = scene("self.wait(0.1)\nopen('begun', 'w')\nimport time; time.sleep(60)")
    running = beside.start(job_folder(tmp_path, "beside"), render_job(waiting), job_files=files)
    running.wait_for(type="progress", frames=1)
    assert any_zygote.run(job_folder(tmp_path, "with"), job, job_files=files).length == (1, 0.1)
    assert any_zygote.run(job_folder(tmp_path, "without"), job).length == (1, 0.1)
    beside.send({"type": "kill", "job": "job"})
    beside.finish(running)


def test_the_real_path_of_the_files_is_hidden(zygote: Zygote, tmp_path: Path, files: Path) -> None:
    body = f"""
        assert tried(os.stat, {str(files)!r}) == 2
        assert os.path.realpath("data.csv") == "/scenepress/files/data.csv"
        flags = os.statvfs("/scenepress/files").f_flag
        wanted = os.ST_RDONLY | os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC
        assert flags & wanted == wanted, flags
        self.wait(0.1)
    """
    outcome = zygote.run(job_folder(tmp_path), render_job(scene(body, above=TRY)), job_files=files)
    assert outcome.length == (1, 0.1)


@pytest.mark.sampled(2)
def test_files_that_are_gone_are_not_the_fault_of_the_scene(any_zygote: Zygote, tmp_path: Path) -> None:
    message = {"filesFolder": str(tmp_path / "gone"), "socket": str(tmp_path / "socket")}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(message["socket"])
        listener.listen(1)
        any_zygote.send(fork_command(job_folder(tmp_path)) | message)
        ended = any_zygote.receive()
    assert ended["problem"] is not None
    assert "No such file or directory" in ended["problem"]


@pytest.mark.sampled(2)
def test_an_error_in_a_helper_names_its_file_and_line(
    any_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    outcome = any_zygote.run(
        job_folder(tmp_path), render_job(scene("import helper\nhelper.half(-1)")), job_files=files
    )
    assert outcome.error.splitlines() == [
        "ZeroDivisionError: integer division or modulo by zero",
        "line 6: helper.half(-1)",
        "  scene.py:6 in construct: helper.half(-1)",
        "  helper.py:2 in half: return number // 0 if number < 0 else number / 2",
    ]
    (files / "package").mkdir()
    (files / "package" / "broken.py").write_text("x = (\n")
    broken = render_job(scene("import package.broken"))
    outcome = any_zygote.run(job_folder(tmp_path, "broken"), broken, job_files=files)
    assert "package/broken.py:1: x = (" in outcome.error
    missing = render_job(scene("ImageMobject('missing.png')"))
    outcome = any_zygote.run(job_folder(tmp_path, "missing"), missing, job_files=files)
    missing_module = render_job(scene("import not_there"))
    also = any_zygote.run(job_folder(tmp_path, "module"), missing_module, job_files=files)
    for error in (outcome.error, also.error):
        assert str(tmp_path) not in error
        assert "/scenepress" not in error


@pytest.mark.sampled(2)
def test_files_with_names_of_the_renderer_change_nothing(
    any_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    for name in (
        *("scene.py", "channel", "captions.vtt", "output.png", "video.mp4", "sections.tar", "manim.cfg"),
        *("media/texts/text.svg", "media/Tex/tex.svg", "media/images", "earlier.mp4", "thumbnail.jpg"),
        *("sitecustomize.py", "manim.py", "numpy.py", "json.py", "scene_renderer.py", "texmf.cnf"),
    ):
        (files / name).parent.mkdir(exist_ok=True)
        (files / name).write_text("raise SystemExit('of the files')\n")
    for name in ("tmp", "section-videos"):
        (files / name).mkdir()
        (files / name / "file").write_text("file")
    body = """
        assert not os.path.exists("tmp/file")
        import json, tempfile
        assert json.dumps(1) == "1"
        tempfile.TemporaryFile().close()
        self.add(Text("text"), MathTex("x^9"))
        self.wait(0.1)
    """
    folder = job_folder(tmp_path)
    outcome = any_zygote.run(folder, render_job(scene(body, above="import os")), job_files=files)
    assert outcome.length == (1, 0.1)
    assert (folder / "video.mp4").read_bytes()[4:8] == b"ftyp"
    assert (
        not (folder / "captions.vtt").exists() or "of the files" not in (folder / "captions.vtt").read_text()
    )


def test_a_package_of_tex_is_of_one_job(zygote: Zygote, tmp_path: Path, files: Path) -> None:
    """Files named as TeX's own are read instead of them, and nothing that was set with them is kept."""
    body = 'self.add(MathTex("x"))\nself.wait(0.1)\nprint(MathTex("x")[0].width)'
    plain = zygote.run(job_folder(tmp_path, "before"), render_job(scene(body)))
    (files / "amsmath.sty").write_text("\\ERROR")
    broken = zygote.run(job_folder(tmp_path, "with"), render_job(scene(body)), job_files=files)
    assert broken.result["failedBy"] == "tex"
    after = zygote.run(job_folder(tmp_path, "after"), render_job(scene(body)))
    assert after.of_type("output") == plain.of_type("output")
    package = 'template = TexTemplate(preamble=r"\\usepackage{ours}")\nTex(r"\\ours", tex_template=template)'
    zygote.run(job_folder(tmp_path, "package"), render_job(scene(package)), job_files=files)
    without = zygote.run(job_folder(tmp_path, "without"), render_job(scene(package)))
    assert "ours.sty" in without.error


LONG = "é" * 120 + ".txt"
NAMES = (
    *("new\nline.txt", "quote'\".txt", "-rf", "--help", " ", "…", "数学.csv", "a\tb", "$(id)", "\\", "~"),
    *("%s%n", "*", "[x]", "\x1b[31m", "...", "n" * 255, LONG),
)


@pytest.mark.sampled(2)
def test_names_are_those_of_the_files(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    for name in NAMES:
        for path in (files / name, files / "nested" / name / name):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    body = f"""
        for name in {NAMES!r}:
            assert open(name).read() == open("nested/" + name + "/" + name).read() == name, name
        self.add(MathTex("x^8"), Text("text"))
        self.wait(0.1)
    """
    outcome = any_zygote.run(job_folder(tmp_path), render_job(scene(body)), job_files=files)
    assert outcome.length == (1, 0.1)


@pytest.mark.sampled(2)
def test_there_may_be_many_files(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    for number in range(500):
        path = files / f"{number % 250}" / f"{number}" / "file.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}")
    body = """
        assert sum(int(open(f"{n % 250}/{n}/file.txt").read()) for n in range(500)) == 124750
        self.wait(0.1)
    """
    outcome = any_zygote.run(job_folder(tmp_path), render_job(scene(body)), job_files=files)
    assert outcome.length == (1, 0.1)


# Lines of a scene that print whether a text has the letters of a font, and whether Manim knows its family.
SHOW = """
def is_mono(family):
    return Text("iiii", font=family).width / Text("MMMM", font=family).width > 0.6
def show(family):
    print(is_mono(family), family in manimpango.list_fonts())
"""


def printed(zygote: Zygote, folder: Path, *lines: str, **options: Any) -> str:
    above = f"import manimpango\nfrom manim import Text\n{SHOW}"
    outcome = zygote.run(folder, render_job(scene("\n".join(lines), above=above)), **options)
    assert outcome.result["type"] == "done", outcome.result
    return "".join(report["text"] for report in outcome.of_type("output"))


@pytest.mark.sampled(2)
def test_a_font_is_found_by_its_family_and_only_by_its_job(
    any_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    (files / "fonts/a file.TTF").write_bytes(font(OURS))
    texts = [
        printed(any_zygote, job_folder(tmp_path, f"{number}"), f"show({OURS!r})", job_files=given)
        for number, given in enumerate((None, files, None))
    ]
    before, during, after = texts
    assert during == "True True\n"
    assert before.startswith(f"WARNING: Font {OURS} not in [")
    assert before.endswith("].\nFalse False\n")
    assert after == before


@pytest.mark.sampled(2)
def test_what_is_no_font_is_left_out(any_zygote: Zygote, tmp_path: Path, files: Path) -> None:
    whole = font(OURS)
    for number, data in enumerate(
        (b"", b"no font", whole[:2000], whole[:300_000], b"\0\1\0\0" + b"\xff" * 999)
    ):
        (files / f"fonts/0{number}.ttf").write_bytes(data)
    (files / "fonts/ours.otf").write_bytes(whole)
    (files / "fonts/folder.ttc").mkdir()
    lines = (f"show({OURS!r})", "Text('text', font='Another', warn_missing_font=False)")
    assert printed(any_zygote, job_folder(tmp_path), *lines, job_files=files) == "True True\n"


def test_a_font_that_is_registered_for_a_while_leaves_those_of_the_job(
    zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    (files / "fonts/ours.ttf").write_bytes(font(OURS))
    (files / "fonts/other.ttf").write_bytes(font("Another for Once"))
    lines = (
        'with register_font("fonts/other.ttf"):',
        "    show('Another for Once')",
        f"show({OURS!r})",
        "show('Another for Once')",
    )
    assert printed(zygote, job_folder(tmp_path), *lines, job_files=files) == 3 * "True True\n"


def test_there_may_be_fifty_fonts(zygote: Zygote, tmp_path: Path, files: Path) -> None:
    for number in range(52):
        (files / f"fonts/{number:02}.ttf").write_bytes(font(f"Number {number:02} of all"))
    lines = [f"print('Number {number:02} of all' in manimpango.list_fonts())" for number in (0, 49, 50, 51)]
    text = printed(zygote, job_folder(tmp_path), *lines, job_files=files)
    assert text == "Of 52 font files, only the first 50 are used.\nTrue\nTrue\nFalse\nFalse\n"


@pytest.mark.sampled(2)
def test_names_of_a_helper_are_known_when_a_source_is_read(
    any_zygote: Zygote, tmp_path: Path, files: Path
) -> None:
    (files / "helper.py").chmod(0o644)
    (files / "helper.py").write_text("open('ran', 'w')\nclass Badge: pass\n")
    code = scene(
        """
        self.add(Badge(), half(4), helper.Badge(1), *ours())
        self.add(ImageMobject("logo.png"), SVGMobject("a/b/mark.svg"))
        self.add_sound("intro.wav")
        ImageMobject("missing.png")
        """,
        above="import helper\nfrom helper import Badge, half\nfrom fonts.more import *\nimport not_there",
    )
    found = any_zygote.run(job_folder(tmp_path), read_job(code), job_files=files).result["findings"]
    assert [(one["line"], one["message"].partition(" at either")[0]) for one in found] == [
        (5, "ModuleNotFoundError: No module named 'not_there'"),
        (11, "OSError: From: ., could not find missing.png"),
    ]
    without = any_zygote.run(job_folder(tmp_path, "without"), read_job(code)).result["findings"]
    assert {3, 4, 5} < {one["line"] for one in without}
