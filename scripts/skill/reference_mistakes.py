"""What authors often write, and what to write instead: from the tables of the renderer's advice."""

import re
from collections.abc import Iterator, Mapping

from scene_renderer.advice import phrases, renamed, typeset

_TABLE = "| instead of | write |\n|---|---|"
_OWNERS = {"object": "Any call", "list": "Lists"}
# Messages of TeX, each with an expression that causes it.
_TEX_MESSAGES = (
    ("(no message: the formula looks wrong, or a control character is reported)", "\frac{a}{b}", True),
    ("Undefined control sequence \\qty", r"\qty{1}{\metre}", True),
    ("Missing $ inserted", "a_b", True),
    ("Missing $ inserted", "a_b", False),
    ("Unicode character … not set up", "→", True),
    ("Extra }, or forgotten $", "}", True),
    ("Double superscript", "x^2^3", True),
    ("Missing \\right. inserted", r"\left(", True),
    ("Misplaced alignment tab character &", "a & b", False),
    ("File ended while scanning use of …", r"\frac{a", True),
    ("Paragraph ended before … was complete", "a\n\nb", True),
    ("You can't use `macro parameter character #'", "#", False),
)
_HABITS = (
    ("a Python list of mobjects, `[a, b].arrange()`", "`VGroup(a, b).arrange()`"),
    ("`self.play(circle.shift(UP))`", "`self.play(circle.animate.shift(UP))`"),
    ("`self.play(circle)`", "`self.play(Create(circle))`"),
    (
        "two `.animate` of one mobject in a `play`: only the last has an effect",
        "`a.animate.shift(UP).scale(2)`",
    ),
    ("`Transform(a, b)`, then `FadeOut(b)`", "`ReplacementTransform(a, b)`, or `FadeOut(a)`"),
    ("`text.set_text('new')`", "`Transform(text, Text('new').move_to(text))`"),
    ("`MathTex('a + b')[0]` for the `a`", "`MathTex('a', '+', 'b')[0]`: a string for each part"),
    ("`'\\frac{a}{b}'`, in which Python reads `\\f` itself", "`r'\\frac{a}{b}'`"),
    ("points with two numbers, `[1, 2]`", "`[1, 2, 0]`, or `axes.c2p(1, 2)`"),
    ("`VGroup(image)` of an `ImageMobject`", "`Group(image)`"),
    (
        "a label that is placed once beside something that moves",
        "`label.add_updater(lambda m: m.next_to(dot, UP))`",
    ),
    (
        "`Text(f'{tracker.get_value()}')`, which never changes",
        "`always_redraw(lambda: Text(f'{tracker.get_value():.1f}'))`",
    ),
    ("angles in degrees, `rotate(90)`", "`rotate(90 * DEGREES)`"),
    ("`plot(1 / x)`", "`plot(lambda x: 1 / x, x_range=[0.2, 4])`"),
    ("`set_camera_orientation` in a `Scene`", "a `ThreeDScene`"),
    ("`self.camera.frame` in a `Scene`", "a `MovingCameraScene`"),
    ("`from manimlib import *`", "`from manim import *`"),
)


def mistakes() -> Iterator[str]:
    """Yield the sections."""
    yield f"## Habits\n\n{_TABLE}\n" + "\n".join(f"| {old} | {new} |" for old, new in _HABITS)
    yield f"## Messages of Python, NumPy and Manim\n\n{_messages()}"
    yield f"## Messages of TeX\n\n{_messages_of_tex()}"
    yield f"## Classes, functions and constants\n\n{_table(renamed.NAMES)}"
    yield f"## Keyword arguments\n\n{_tables(renamed.KEYWORDS)}"
    yield f"## Methods and attributes\n\n{_tables(renamed.ATTRIBUTES)}"


def _tables(tables: Mapping[str, Mapping[str, renamed.Renamed]]) -> str:
    parts = (
        f"### {_OWNERS.get(owner, f'`{owner}`')}\n\n{_table(names)}"
        for owner, names in tables.items()
        if names
    )
    return "\n\n".join(parts)


def _table(names: Mapping[str, renamed.Renamed]) -> str:
    """Return a row for all names with the same advice."""
    rows: dict[str, list[str]] = {}
    for old, new in names.items():
        rows.setdefault(new.advice or f"`{new.name}`", []).append(f"`{old}`")
    lines = (f"| {', '.join(old)} | {_in_cell(new)} |" for new, old in rows.items())
    return "\n".join([_TABLE, *lines])


def _messages() -> str:
    return "\n".join(f"- `{_plain(pattern.pattern)}`: {hint}" for pattern, hint in phrases.PHRASES)


def _plain(pattern: str) -> str:
    """Return the beginning of the messages that a pattern finds, as text."""
    first = re.sub(r"\(\?:([^|)]*)[^)]*\)", r"\1", pattern).split("|", 1)[0]
    first = re.sub(r"\[([a-z]).*?\]", r"\1", first)
    return re.sub(r"\\w\+|\.\*", "…", first).replace("\\", "").strip("^ ")


def _messages_of_tex() -> str:
    lines = []
    for message, source, is_math in _TEX_MESSAGES:
        hint, _ = typeset.advice_for(message, source, is_math=is_math)
        where = "" if message.count("Missing $") == 0 else " in `MathTex`" if is_math else " in `Tex`"
        lines.append(f"- {message if message.startswith('(') else f'`{message}`'}{where}: {hint}")
    return "\n".join(lines)


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|")
