"""Advice for formulas that TeX can't set."""

import ast
import re

from .advice import nearest
from .latex import LATEX

# Commands and environments of packages that Manim's preamble doesn't load, by package.
_PACKAGES: dict[str, list[str]] = LATEX["packages"]
_COMMANDS: list[str] = LATEX["commands"]
# Commands that are not LaTeX's, or of a package that is not needed for them.
_MEANT: dict[str, str] = LATEX["meant"]
_OF_TEXT = ("Tex", "BulletedList", "Title")
_COMMAND = re.compile(r"Undefined control sequence\.? \\([a-zA-Z@]+)")
_ENVIRONMENT = re.compile(r"Environment ([^ ]+) undefined")
_CHARACTER = re.compile(r"Unicode character (\S+)")
# Commands whose first letter makes another character of a backslash in a string without r.
_BROKEN = re.compile(
    r"[\f\a\b\t\v\r](?:rac|orall|lpha|pprox|ngle|eta|egin|ar|inom|oldsymbol|ext|heta|imes|an|ight|ho|ec|arepsilon|arphi)"
)


def packages_for(message: str) -> tuple[str, ...]:
    """Return the packages that define the command or environment that TeX doesn't know."""
    match = _COMMAND.search(message) or _ENVIRONMENT.search(message)
    if match is None:
        return ()
    return tuple(package for package, names in _PACKAGES.items() if match[1] in names)


def is_of_math(node: ast.expr | None) -> bool:
    """Whether an expression makes formulas, as `MathTex` does, and not text with formulas, as `Tex` does."""
    return not any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _OF_TEXT
        for part in (ast.walk(node) if node is not None else ())
    )


def advice_for(message: str, source: str, *, is_math: bool) -> tuple[str | None, tuple[str, ...]]:
    """Return what to do about a message of TeX for an expression, and what can be written instead.

    `is_math`: the expression is one of `MathTex`.
    """
    if _BROKEN.search(source) or any(ord(character) < 32 and character != "\n" for character in source):
        return (
            "Put an r before the quotes: r'\\frac{a}{b}'. Without it, Python reads the backslash itself.",
            (),
        )
    if (match := _COMMAND.search(message)) and match[1] in _MEANT:
        return f"Write `{_MEANT[match[1]]}`.", (_MEANT[match[1]],)
    if packages := packages_for(message):
        name = packages[0]
        return (
            f"The package {name} is needed: `template = TexTemplate()`, "
            f"`template.add_to_preamble(r'\\usepackage{{{name}}}')`, `MathTex(…, tex_template=template)`.",
            (),
        )
    if match := _COMMAND.search(message):
        candidates = tuple(f"\\{name}" for name in nearest(match[1], _COMMANDS))
        if candidates:
            return f"Did you mean `{candidates[0]}`?", candidates
        return (
            f"LaTeX has no command `\\{match[1]}`: define it in the preamble, or write it in another way.",
            (),
        )
    if "Missing $ inserted" in message:
        if is_math:
            return (
                "In `MathTex`, put words into `\\text{…}`, with `\\_` for `_`; remove `$` and blank lines.",
                (),
            )
        return (
            "Put formulas between `$…$` in `Tex`, or use `MathTex`. Write `_` of text as `\\_`.",
            (),
        )
    return _general_advice(message), ()


def _general_advice(message: str) -> str | None:
    if _CHARACTER.search(message):
        return "LaTeX does not know this character: use `Text('…')`, or its command, such as `\\alpha`."
    if "begins a comment" in message:
        return "Write `\\%` for the character."
    if "Misplaced alignment tab" in message:
        return "Write `\\&` for the character, or put the line into an environment such as `aligned`."
    if "Extra }" in message or "Extra \\right" in message or "Missing } inserted" in message:
        return "Every `{` needs its `}`: also within each part of the expression."
    if "Missing { inserted" in message or "Missing } " in message:
        return "Put what belongs together into braces: `x^{10}`, `\\frac{a}{b}`."
    if "Double superscript" in message or "Double subscript" in message:
        return "Group the first one with braces: `{x^2}^3`, `{a_1}_2`."
    if "Missing \\right" in message or "Missing delimiter" in message:
        return "Every `\\left(` needs its `\\right)`: also within each part of the expression."
    if "invalid in math mode" in message:
        return "A `$` has no second one: formulas are between two, `$…$`."
    if (
        "Missing \\endcsname" in message
        or "Runaway argument" in message
        or "ended by \\end" in message
        or "File ended" in message
    ):
        return "A brace or an environment is not closed."
    if "Too many }" in message or "has an extra }" in message:
        return "There is one `}` too many."
    if "Paragraph ended" in message:
        return "Remove the blank lines, or close the brace before them."
    if "can be used only in preamble" in message:
        return "Put it into the preamble: `TexTemplate().add_to_preamble(…)`."
    if "allowed only in math mode" in message:
        return "Put it between `$…$`, or use `MathTex`."
    if "Illegal unit" in message:
        return "Give a length with its unit, such as `\\hspace{1cm}`."
    if "macro parameter character" in message:
        return "Write `\\#` for the character."
    return None
