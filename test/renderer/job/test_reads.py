from pathlib import Path

from client import MATERIAL, Message, Zygote, check_job, read_job

HEAD = "from manim import *\n\n\nclass Demo(Scene):\n    def construct(self):\n"
# In each, what a dry run finds first is what is read.
BROKEN = (
    "self.add(Circl())",
    "Circle(radios=2)",
    "Circle().movee(UP)",
    "self.play(Circle())",
    "import not_here",
    "Circle() * 2",
    "self.embed()",
    "(\n            Circle()\n            .shift(UP)\n            .movee(UP)\n        )",
    "Polygon([0, 1], [1, 0], [2, 2])",
    "MathTex(r'x^2^3')",
    "VGroup(Circle(), 'a')",
    "x = [1, 2]\n        x[3]",
    "x = {'one': 1}\n        x['onne']",
    "Square(color='bleu')",
)


def test_what_is_read_is_what_a_dry_run_finds(zygote: Zygote, tmp_path: Path) -> None:
    for number, line in enumerate(BROKEN):
        code = f"{HEAD}        {line}\n"
        for kind in ("read", "run"):
            (tmp_path / f"{number}-{kind}").mkdir()
        read = zygote.run(tmp_path / f"{number}-read", read_job(code)).result
        ran = zygote.run(tmp_path / f"{number}-run", check_job(code)).result["finding"]
        # A read knows neither plays nor the source that Manim made for TeX.
        told: Message = {"play": None, "calls": [], "tex": None}
        assert read["findings"][:1] == [ran | told], line


def test_nothing_of_the_source_is_run(any_zygote: Zygote, tmp_path: Path) -> None:
    outcome = any_zygote.run(tmp_path, read_job("open('left', 'w')\nimport os\nos._exit(3)\n", None))
    assert outcome.result is not None
    assert [one["kind"] for one in outcome.result["findings"]] == ["scene:class"]
    assert outcome.ended["exitCode"] == 0
    assert not (tmp_path / "left").exists()


def test_a_source_in_bytes_is_decoded(zygote: Zygote, tmp_path: Path) -> None:
    code = "# coding: latin-1\nx = 'é'; Circl()\n".encode("latin-1").decode("latin-1")
    [found] = zygote.run(tmp_path, read_job(code, None) | {"isBytes": True}).result["findings"]
    assert (found["line"], found["column"]) == (2, 10)


def test_a_hostile_source_ends_in_time(zygote: Zygote, tmp_path: Path) -> None:
    code = HEAD + "        x = [Polygon(UP, DOWN, LEFT * k) for k in range(12)]\n" * 3_500
    outcome = zygote.run(tmp_path, read_job(code))
    assert outcome.ended["exitCode"] == 0 or outcome.ended["signal"] == "SIGXCPU"


def test_the_report_is_short(zygote: Zygote, tmp_path: Path) -> None:
    names = "\n".join(f"        {'é' * 3_000}{k}" for k in range(40))
    [report] = zygote.run(tmp_path, read_job(HEAD + names)).of_type("read")
    assert 0 < len(report["findings"]) <= 20


def test_files_that_scenes_may_read_are_there(zygote: Zygote, tmp_path: Path) -> None:
    (MATERIAL / "here.svg").write_text("<svg/>")
    code = f"{HEAD}        SVGMobject('{MATERIAL}/here.svg')\n        SVGMobject('{MATERIAL}/away.svg')\n"
    [found] = zygote.run(tmp_path, read_job(code)).result["findings"]
    assert (found["kind"], found["line"]) == ("scene:file", 7)
