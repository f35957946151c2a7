"""Each rule on the layout: a scene in which it finds a fault, and those in which it must stay silent."""

from dataclasses import dataclass

import pytest

from layout.inspections import Inspector
from schema import check
from sources import scene


@dataclass(frozen=True)
class Case:
    """A scene; `found`: the kinds of the findings, with the names of their mobjects."""

    name: str
    body: str
    found: tuple[tuple[str, str | None], ...] = ()
    base: str = "Scene"
    height_px: int = 1080

    def __str__(self) -> str:
        return self.name


_AXES = "axes = Axes(x_range=[0, 4], y_range=[0, 4])\nself.add(axes)\n"
_TILTED = "self.set_camera_orientation(phi=65 * DEGREES, theta=-60 * DEGREES)\n"

_OFF_FRAME = [
    Case("a long text", 't = Text("a" * 60)\nself.play(Write(t))\nself.wait()', (("layout:off-frame", "t"),)),
    Case(
        "a group with texts",
        "g = VGroup(*[VGroup(Square(), Text(str(n))) for n in range(8)]).arrange(RIGHT)\n"
        "g = VGroup(*[VGroup(Square(), Text(str(n))) for n in range(8)]).arrange(RIGHT)\nself.add(g)\n"
        "self.wait()",
        (("layout:off-frame", "g"),),
    ),
    Case(
        "moved out halfway and left there",
        "s = Square()\nself.add(s)\nself.play(s.animate.move_to(7 * RIGHT))\nself.wait()",
        (("layout:off-frame", "s"),),
    ),
    Case(
        "beyond the edge and never seen",
        't = Text("above").shift(5 * UP)\nself.add(Square())\nself.play(Write(t))\nself.wait()',
        (("layout:off-frame", "t"),),
    ),
    Case(
        "moves out", 't = Text("abc")\nself.play(t.animate.shift(7 * RIGHT))\nself.remove(t)\nself.wait(0.5)'
    ),
    Case(
        "waits outside",
        't = Text("abc").shift(9 * LEFT)\nself.add(t, Dot())\nself.wait()\nself.play(t.animate.center())',
    ),
    Case(
        "planes and lines",
        "self.add(NumberPlane(x_range=[-20, 20]).add_coordinates(), Line(9 * LEFT, 9 * RIGHT))\nself.wait()",
    ),
    Case("a shape at the corner", "self.add(Circle(fill_opacity=1).to_corner(UL, buff=-1))\nself.wait()"),
    Case(
        "a camera that has moved on",
        't = Text("a long title")\nself.add(t)\nself.play(self.camera.frame.animate.scale(0.3))\nself.wait()',
        base="MovingCameraScene",
    ),
]
_OFF_FRAME += [
    Case(
        "scaled out of the frame",
        'g = VGroup(Square(), Text("far").shift(5 * RIGHT))\nself.add(g)\nself.wait()\n'
        "self.play(g.animate.scale(1.7))\nself.wait()",
        (("layout:off-frame", "g"),),
    ),
    Case(
        "scrolled",
        'g = VGroup(*[Text(f"line {n}") for n in range(14)]).arrange(DOWN).shift(4 * DOWN)\nself.add(g)\n'
        "for _ in range(4):\n    self.play(g.animate.shift(1.2 * UP))\n    self.wait(0.3)\nself.wait()",
    ),
]
_TABLE = 'Table([["a", "b"], ["c", "d"], ["e", "f"]], include_outer_lines=True)'
_OFF_FRAME += [
    Case(
        "a shape that is created outside",
        "s = Square().shift(9 * LEFT)\nself.add(Dot())\nself.play(Create(s))\nself.wait(1.5)",
        (("layout:off-frame", "s"),),
    ),
    Case(
        "a shape that comes in later",
        "s = Square().shift(9 * LEFT)\nself.add(Dot())\nself.play(Create(s))\nself.wait(1.5)\n"
        "self.play(s.animate.center())",
    ),
    Case(
        "a bar that is too tall",
        "b = Rectangle(width=1, height=9, fill_opacity=1).move_to(3 * DOWN, aligned_edge=DOWN)\n"
        "self.play(GrowFromEdge(b, DOWN))\nself.wait(1.5)",
        (("layout:off-frame", "b"),),
    ),
    Case(
        "the ground of a picture",
        "g = Rectangle(width=5, height=2, fill_opacity=1).to_edge(DOWN, buff=-0.5)\n"
        "self.play(FadeIn(g))\nself.wait(1.5)",
    ),
    Case(
        "from edge to edge",
        "b = Rectangle(width=15, height=1)\nself.play(Create(b))\nself.wait(1.5)",
    ),
    Case(
        "a tip outside",
        "a = Arrow(ORIGIN, 8 * RIGHT)\nself.play(GrowArrow(a))\nself.wait(1.5)",
        (("layout:off-frame", "a"),),
    ),
    Case(
        "shapes outside of what a camera shows",
        "s = Square().shift(9 * LEFT)\nself.add(Dot())\nself.play(Create(s))\nself.wait(1.5)\n"
        "self.play(self.camera.frame.animate.move_to(s))",
        base="MovingCameraScene",
    ),
    Case(
        "a table that is too tall",
        f"t = {_TABLE}.scale(2.3)\nself.add(t)\nself.wait()\nself.wait()",
        (("layout:off-frame", "t"),),
    ),
    Case(
        "a graph",
        "g = Graph([1, 2, 3, 4], [(1, 2), (3, 4)], layout='circular', layout_scale=4.2, labels=True)\n"
        "self.add(g)\nself.wait()\nself.wait()",
        (("layout:off-frame", "g"),),
    ),
    Case(
        "small words cut by a little",
        't = Text("footer", font_size=18).to_edge(DOWN, buff=-0.05)\nself.add(t)\nself.wait()\nself.wait()',
        (("layout:off-frame", "t"),),
    ),
]
_OVERLAP = [
    Case(
        "two texts",
        'a = Text("first")\nself.play(Write(a))\nb = Text("other")\nself.play(Write(b))\nself.wait()',
        (("layout:overlap", "b"),),
    ),
    Case(
        "moved onto another",
        'a, b = Text("first"), Text("other").shift(2 * UP)\nself.add(a, b)\nself.wait()\n'
        "self.play(b.animate.center())\nself.wait()",
        (("layout:overlap", "b"),),
    ),
    Case(
        "one after the other",
        'self.play(Write(a := Text("one")))\nself.play(FadeOut(a))\nself.play(Write(Text("two")))',
    ),
    Case(
        "replaced",
        'a = Text("one")\nself.play(Write(a))\nself.play(ReplacementTransform(a, Text("two")))\nself.wait()',
    ),
    Case("a fraction", r'self.add(MathTex(r"\frac{a+b}{\sqrt{c}}"))' + "\nself.wait()"),
    Case(
        "a table",
        'self.add(Table([["a", "b"], ["c", "d"]], include_outer_lines=True).scale(0.6))\nself.wait()',
    ),
    Case(
        "a faint watermark",
        'self.add(Text("draft", font_size=200).set_opacity(0.1), Text("word"))\nself.wait()',
    ),
    Case("a copy in the same place", 'a = Text("word")\nself.add(a, a.copy())\nself.wait()'),
    Case(
        "behind a cover",
        'a = Text("one")\nself.add(a)\nself.wait()\n'
        'self.add(Square(4, fill_color=BLUE_E, fill_opacity=1), Text("two"))\nself.wait()',
    ),
]
_OVERLAP += [
    Case(
        "outside of the frame",
        'texts = [Text(word).shift(9 * RIGHT) for word in ("one", "two")]\nself.add(*texts, Dot())\n'
        "self.wait()\nself.play(texts[0].animate.move_to(UP), texts[1].animate.move_to(DOWN))",
    ),
    Case(
        "on a large sign in a faint colour",
        'self.add(Text("3", font_size=300, color="#1c1c1c"), Text("The third part"))\n'
        "self.wait()\nself.wait()",
    ),
    Case(
        "on a large sign in a bright colour",
        'n = Text("3", font_size=300)\nself.add(n)\nself.wait()\nt = Text("The third part")\n'
        "self.play(Write(t))\nself.wait()",
        (("layout:overlap", "t"),),
    ),
]
_CROSSED = [
    Case(
        "a text wider than its box",
        'box = Rectangle(width=2, height=1)\nt = Text("Convolution layer")\nself.add(box, t)\nself.wait()',
        (("layout:crossed", "t"),),
    ),
    Case(
        "a line",
        't = Text("label")\nself.add(t)\nself.play(Create(Line(4 * LEFT, 4 * RIGHT)))\nself.wait()',
        (("layout:crossed", "t"),),
    ),
    Case(
        "a curve",
        _AXES
        + "self.add(axes.plot(lambda x: x))\n"
        + 't = MathTex("y = x").move_to(axes.c2p(2, 2))\nself.add(t)\nself.wait()',
        (("layout:crossed", "t"),),
    ),
    Case(
        "a grid",
        'self.add(NumberPlane())\nt = Text("a sentence on a grid").shift(2.1 * UP)\nself.add(t)\nself.wait()',
        (("layout:crossed", "t"),),
    ),
    Case(
        "a backing",
        'self.add(Line(4 * LEFT, 4 * RIGHT))\nself.add(Text("label").add_background_rectangle())\n'
        "self.wait()",
    ),
    Case(
        "a filled node",
        'self.add(Line(4 * LEFT, 4 * RIGHT), Circle(fill_color=BLACK, fill_opacity=1), Text("a"))\n'
        "self.wait()",
    ),
    Case("struck out", 't = Text("wrong")\nself.add(t, Line(t.get_left(), t.get_right()))\nself.wait()'),
    Case(
        "crossed out and framed",
        't = Text("wrong")\nself.add(t, Cross(t), SurroundingRectangle(t), Underline(t))\nself.wait()',
    ),
    Case(
        "a curve around its box",
        'self.add(Text("a word"), ArcBetweenPoints(3 * LEFT, 3 * RIGHT, angle=2))\nself.wait()',
    ),
    Case(
        "numbers of axes",
        "axes = Axes(x_range=[-4, 4], y_range=[-4, 4]).add_coordinates()\n"
        "self.add(axes, axes.plot(np.sin))\nself.wait()",
    ),
]
_CROSSED += [
    Case(
        "dashes",
        't = Text("label")\nself.add(t, DashedLine(4 * LEFT, 4 * RIGHT))\nself.wait()',
        (("layout:crossed", "t"),),
    ),
    Case(
        "an arrow as long as the text",
        't = Text("label")\nself.add(t, Arrow(t.get_right(), t.get_left(), buff=0))\nself.wait()',
        (("layout:crossed", "t"),),
    ),
]
_SMALL = [
    Case(
        "tiny",
        't = Text("notes of the author", font_size=8)\nself.add(t)\nself.wait()',
        (("layout:small-text", "t"),),
    ),
    Case(
        "in a small video",
        't = Text("notes", font_size=11)\nself.add(t)\nself.wait()',
        (("layout:small-text", "t"),),
        height_px=480,
    ),
    Case("in a large video", 't = Text("notes", font_size=13)\nself.add(t)\nself.wait()'),
    Case(
        "signs of normal size",
        'self.add(MathTex("="), MathTex("-").shift(UP), Text("...").shift(DOWN))\nself.wait()',
    ),
    Case(
        "numbers of axes",
        'self.add(Axes(axis_config={"include_numbers": True, "font_size": 22}))\nself.wait()',
    ),
]
_ZOOM_OUT = "self.play(self.camera.frame.animate.set(width=90))\nself.wait()\nself.wait()\n"
_SMALL += [
    Case(
        "first seen after a zoom-out",
        't = Text("far away").shift(12 * RIGHT)\nself.add(Square(), t)\nself.wait()\n' + _ZOOM_OUT,
        (("layout:small-text", "t"),),
        base="MovingCameraScene",
    ),
    Case(
        "an overview of what was read",
        't = Text("a town")\nself.add(t)\nself.wait()\n' + _ZOOM_OUT,
        base="MovingCameraScene",
    ),
    Case(
        "read after a zoom-in",
        "self.camera.frame.set(width=90)\n"
        't = Text("a town")\nself.add(t)\nself.wait()\nself.play(FadeIn(Dot()))\nself.wait()\n'
        "self.play(self.camera.frame.animate.set(width=14))\nself.wait()",
        base="MovingCameraScene",
    ),
]
_CONTRAST = [
    Case(
        "dark on black",
        't = Text("dark", color="#222222")\nself.add(t)\nself.wait()',
        (("layout:contrast", "t"),),
    ),
    Case(
        "yellow on white",
        't = Text("sun", color=YELLOW_A)\nself.add(Square(4, color=WHITE, fill_opacity=1), t)\nself.wait()',
        (("layout:contrast", "t"),),
    ),
    Case(
        "fading", 't = Text("word")\nself.play(FadeIn(t))\nself.play(t.animate.set_opacity(0.2))\nself.wait()'
    ),
    Case(
        "a border",
        't = Text("word", color=BLACK)\nt.set_stroke(WHITE, 6, background=True)\nself.add(t)\nself.wait()',
    ),
    Case(
        "revealed later",
        't = Text("word", color=BLACK)\nself.add(Dot(UP), t)\nself.wait()\nself.wait()\n'
        "self.play(t.animate.set_color(WHITE))\nself.wait()",
    ),
    Case(
        "black on a light box",
        'self.add(Square(4, color=YELLOW, fill_opacity=1), Text("word", color=BLACK))\nself.wait()',
    ),
]
_CONTRAST += [
    Case(
        "a shadow",
        'self.camera.background_color = "#14304a"\nt = Text("Shadow", font_size=80)\n'
        "s = t.copy().set_color(BLACK).shift(0.05 * DR)\nself.play(FadeIn(s, t))\nself.wait()\nself.wait()",
    ),
    Case(
        "the same words elsewhere",
        't = Text("Words")\ns = t.copy().set_color("#222222").shift(DOWN)\nself.play(FadeIn(s, t))\n'
        "self.wait()",
        (("layout:contrast", "s"),),
    ),
    Case(
        "between thick lines",
        "lines = VGroup(*[Line(2 * LEFT, 2 * RIGHT, stroke_width=10) for _ in range(3)])\n"
        "lines.arrange(DOWN, buff=0.34)\n"
        'self.add(lines, Text("narrow rows", font_size=26).move_to(lines[1:]))\nself.wait()',
    ),
]
_HIDDEN = [
    Case("a line wider than the frame", "self.add(Line(8 * LEFT, 8 * RIGHT).shift(1.5 * DOWN))\nself.wait()"),
    Case(
        "transparent",
        "s = Square().set_opacity(0)\nself.add(Dot())\nself.play(FadeIn(s))\nself.wait()",
        (("layout:hidden", "s"),),
    ),
    Case(
        "no size",
        "s = Square().scale(0)\nself.add(Dot())\nself.play(FadeIn(s))\nself.wait()",
        (("layout:hidden", "s"),),
    ),
    Case(
        "behind another",
        "s = Dot()\nself.add(s)\nself.add(Square(fill_opacity=1))\nself.wait()\nself.wait(0.5)",
        (("layout:hidden", "s"),),
    ),
    Case(
        "of the same colour",
        "self.add(Square(4, color=RED, fill_opacity=1))\ns = Dot(radius=0.3, color=RED)\n"
        "self.play(FadeIn(s))\nself.wait()",
        (("layout:hidden", "s"),),
    ),
    Case("a phantom", "s = Square().set_opacity(0)\nself.add(s, Brace(s))\nself.wait()"),
    Case("a tracker", "t = ValueTracker(0)\nself.add(t, Dot())\nself.play(t.animate.set_value(1))"),
    Case(
        "revealed",
        "s, c = Dot(), Square(fill_opacity=1)\nself.add(s, c)\nself.wait()\n"
        "self.play(c.animate.shift(3 * UP))\nself.wait()",
    ),
    Case(
        "faded in later",
        "s = Square().set_opacity(0)\nself.play(FadeIn(s), FadeIn(Dot()))\n"
        "self.play(s.animate.set_opacity(1))\nself.wait()",
    ),
    Case(
        "a mask",
        "self.add(Text('a long word'))\nm = Square(1, color=BLACK, fill_opacity=1)\n"
        "self.play(FadeIn(m))\nself.wait()",
    ),
]
_CONTRAST += [
    Case(
        "a curve in the colour of the night",
        "axes = Axes(x_range=[0, 4], y_range=[0, 4])\nself.play(Create(axes))\n"
        'c = axes.plot(lambda x: x, color="#181818")\nself.play(Create(c))\nself.wait()\nself.wait()',
        (("layout:contrast", "c"),),
    ),
    Case(
        "a grid in a faint colour",
        "g = VGroup(*[Line(7 * LEFT, 7 * RIGHT).shift(n * UP) for n in range(-3, 4)])\n"
        'g.set_color("#141414")\nself.play(Create(g))\nself.add(Dot())\nself.wait()\nself.wait()',
    ),
    Case(
        "a panel in a faint colour",
        'p = Rectangle(width=6, height=3, stroke_width=0, fill_color="#0c0c0c", fill_opacity=1)\n'
        "self.play(FadeIn(p))\nself.wait()\nself.play(Write(Text('words')))\nself.wait()",
    ),
    Case(
        "lit up later",
        's = Square(color="#101010")\nself.play(Create(s))\nself.wait()\n'
        "self.play(s.animate.set_color(YELLOW))\nself.wait()",
    ),
]
_HIDDEN += [
    Case(
        "transparent words",
        't = Text("answer").set_opacity(0).shift(DOWN)\nself.play(Write(Text("question")))\nself.add(t)\n'
        "self.wait()\nself.play(FadeIn(Dot(2 * UP)))\nself.wait()",
        (("layout:hidden", "t"),),
    ),
    Case(
        "transparent words in a group",
        'a, b = Text("question"), Text("answer")\nb.set_opacity(0).shift(DOWN)\ng = VGroup(a, b)\n'
        "self.play(FadeIn(g))\nself.wait()\nself.play(g.animate.shift(UP))\nself.wait()",
        (("layout:hidden", "b"),),
    ),
    Case(
        "transparent words that are replaced",
        'a, b = Text("?").set_opacity(0), Text("answer")\nself.add(a, Dot(UP))\nself.wait()\n'
        "self.play(FadeIn(Dot(2 * UP)))\nself.play(ReplacementTransform(a, b))\nself.wait()",
    ),
    Case(
        "a transparent copy",
        'a = Text("word")\nb = a.copy().set_opacity(0).shift(DOWN)\nself.add(a, b)\nself.wait()\n'
        "self.play(FadeIn(Dot(2 * UP)))\nself.wait()",
    ),
]
_TIMES = [
    Case("blank", "self.wait(3)\nself.play(FadeIn(Square()))", (("layout:blank", None),)),
    Case(
        "blank plays",
        "t = ValueTracker(0)\nself.play(t.animate.set_value(1), run_time=3)\nself.add(Dot())\nself.wait()",
        (("layout:blank", None),),
    ),
    Case("frozen", "self.add(Square())\nself.wait(12)\nself.play(FadeIn(Dot()))", (("layout:frozen", None),)),
    Case(
        "too short",
        "self.add(Square())\nself.wait(0.001)\nself.play(FadeIn(Dot()))",
        (("layout:zero-length", None),),
    ),
    Case(
        "a short pause",
        "self.play(FadeIn(s := Square()))\nself.play(FadeOut(s))\nself.wait(1)\nself.play(FadeIn(s))",
    ),
    Case("a black end", "self.play(FadeIn(s := Square()))\nself.play(FadeOut(s))\nself.wait(2)"),
    Case("a pause to think", "self.add(Square())\nself.wait(6)\nself.play(FadeIn(Dot()))"),
    Case("a slow move", "s = Square()\nself.add(s)\nself.play(Rotate(s, 1), run_time=12)"),
    Case(
        "frame by frame",
        "d = Dot()\nself.add(d)\nfor _ in range(30):\n    d.shift(0.1 * RIGHT)\n    self.wait(1 / 60)",
    ),
]
_ROOM = [
    Case(
        "lies in the room",
        _TILTED + 't = Text("on the floor")\nself.add(t, Sphere(resolution=(4, 4)))\nself.wait()',
        (("layout:not-fixed", "t"),),
        base="ThreeDScene",
    ),
    Case(
        "fixed",
        _TILTED + 't = Text("on the screen").to_edge(UP)\nself.add_fixed_in_frame_mobjects(t)\nself.wait()',
        base="ThreeDScene",
    ),
    Case(
        "facing the camera",
        _TILTED + 't = Text("at a point")\nself.add_fixed_orientation_mobjects(t)\nself.wait()',
        base="ThreeDScene",
    ),
    Case(
        "labels of axes",
        _TILTED
        + "axes = ThreeDAxes()\nself.add(axes, axes.get_axis_labels(Text('width'), 'y', 'z'))\nself.wait()",
        base="ThreeDScene",
    ),
    Case("seen from above", 'self.add(Text("flat"), Cube())\nself.wait()', base="ThreeDScene"),
]
_POINTS = [
    Case(
        "no numbers",
        "s = Square()\ns.points[0, 0] = np.nan\nself.add(Dot(), s)\nself.wait()",
        (("scene:points", "s"),),
    ),
]
_CASES = {
    "off-frame": _OFF_FRAME,
    "overlap": _OVERLAP,
    "crossed": _CROSSED,
    "small-text": _SMALL,
    "contrast": _CONTRAST,
    "hidden": _HIDDEN,
    "times": _TIMES,
    "room": _ROOM,
    "points": _POINTS,
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{rule}: {case}") for rule, cases in _CASES.items() for case in cases]
)
def test_a_rule_finds_its_faults_only(inspector: Inspector, case: Case) -> None:
    code = scene(case.body, base=case.base)
    findings = inspector.inspect(code, height_px=case.height_px).findings
    for found in findings:
        check("Finding", found)
        assert found["severity"] == "warning"
        assert found["sourceLine"] == code.split("\n")[found["line"] - 1].strip()
        assert "{" not in found["message"] + (found["hint"] or "")
    seen = tuple((found["kind"], found["layout"]["mobject"]) for found in findings)
    assert seen == case.found
