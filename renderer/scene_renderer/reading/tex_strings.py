"""Formulas that TeX can't set, as far as their text tells."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from manim import BulletedList, Tex

from ..advice import tex_fixes, typeset
from ..advice.advice import Advice
from ..scene_error import SceneError
from ..tex.errors import COMMENT, ends_in_comment
from . import tex_names
from .pure import Unclear, literal
from .reading import Reading
from .values import Sequence, Value

if TYPE_CHECKING:
    from .calls import Arguments

_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Commands whose first letter makes a blank of the backslash: `\\theta` shows "heta".
_SHORTENED = re.compile(r"\t(?:heta|imes|ext|an|au|o|frac|riangle|ilde|binom)(?![a-z])|\r(?:ho|ight|angle)")
_COMMAND = re.compile(r"\\([a-zA-Z]+|.)", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z*]+)\}")
_DEFINES = re.compile(
    r"\\(?:re)?newcommand|\\(?:g|e|x)?def\b|\\let\b|\\DeclareMathOperator|\\usepackage|\\input"
)
_TWICE = r"(?<!\\){sign}(?:\w|\\[a-zA-Z]+\s*|\{{[^{{}}]*\}})\s*{sign}(?:\w|\\|\{{)"
_SCRIPT = re.compile(r"[_^]")


def check(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check the strings of a formula."""
    texts = _texts(arguments)
    for text in texts:
        if _INVALID.search(text):
            return _report(reading, arguments, "Text line contains an invalid character", text)
        if _SHORTENED.search(text):
            hint = typeset.advice_for("", text, is_math=True)[0] or _RAW
            return reading.error(
                SceneError("A command of TeX lacks its backslash: Python has read it.", "tex", hint=hint),
                arguments.node,
                is_warning=True,
            )
    if has_own_preamble(reading) or "tex_template" in arguments.named or arguments.has_more_named:
        return None
    whole = " ".join(texts)
    if "\\usepackage" in whole:
        return _report(reading, arguments, "LaTeX Error: Can be used only in preamble.", whole)
    if _DEFINES.search(whole):
        return None
    for text in texts:
        if ends_in_comment(text):
            return _report(reading, arguments, COMMENT.removeprefix("TeX: "), text)
        if (said := _unknown(text)) is not None:
            return _report(reading, arguments, said, text)
    if "tex_environment" in arguments.named or arguments.has_more or len(texts) != len(arguments.given):
        return None
    if (said := _unclosed(whole)) is not None:
        return _report(reading, arguments, said, whole)
    if issubclass(kind, Tex):
        said = _wrong_in_text(whole) if len(texts) == 1 and not issubclass(kind, BulletedList) else None
    else:
        said = _wrong_in_formula(whole, texts)
    return None if said is None else _report(reading, arguments, said, whole)


_RAW = "Put an r before the quotes: r'\\frac{a}{b}'. Without it, Python reads the backslash itself."


def _texts(arguments: "Arguments") -> list[str]:
    texts = []
    for value in arguments.given:
        try:
            thing = literal(value)
        except Unclear:
            continue
        if isinstance(thing, str):
            texts.append(thing)
    return texts


def has_own_preamble(reading: Reading) -> bool:
    """Whether the code may change what TeX reads before the formulas."""
    return "TexTemplate" in reading.report.code or "tex_template" in reading.report.code


def check_labels(reading: Reading, arguments: "Arguments") -> None:
    """Check the strings of what makes formulas of them."""
    if has_own_preamble(reading) or arguments.has_more_named or "element_to_mobject" in arguments.named:
        return None
    for text in _strings([*arguments.given, *arguments.named.values()]):
        if _INVALID.search(text):
            return _report(reading, arguments, "Text line contains an invalid character", text)
        said = None if _DEFINES.search(text) else _unknown(text) or _unclosed(text)
        if said is not None and "Unicode" not in said:
            return _report(reading, arguments, said, text)
    return None


def _strings(values: list[Value]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Sequence):
            yield from _strings(value.parts)
        elif value.is_it and isinstance(value.thing, str):
            yield value.thing


def _report(reading: Reading, arguments: "Arguments", message: str, text: str) -> None:
    is_math = not _is_text(reading, arguments)
    said = f"TeX: {message}"
    hint, candidates = typeset.advice_for(said, text, is_math=is_math)
    error = SceneError(said, "tex", hint=hint, candidates=candidates)
    fix = tex_fixes.fix_of(said, candidates, arguments.node, reading.report.code)
    reading.error(error, arguments.node, advice=Advice("tex", hint, candidates, fix=fix))


def _is_text(reading: Reading, arguments: "Arguments") -> bool:
    made = reading.values.get(arguments.node.func)
    return made is not None and isinstance(made.thing, type) and issubclass(made.thing, Tex)


def _unknown(text: str) -> str | None:
    """Return what TeX says about a command, environment or character that it does not know."""
    known = tex_names.commands()
    if known is None:
        return None
    plain = _without_comments(text)
    for match in _COMMAND.finditer(plain):
        name = match[1]
        if len(name) > 1 and name not in known:
            return f"Undefined control sequence \\{name}"
    for match in _ENVIRONMENT.finditer(plain):
        if match[1] not in known:
            return f"LaTeX Error: Environment {match[1]} undefined."
    for character in plain:
        if character > "\x7f" and f"u8:{character}".encode().decode("latin-1") not in known:
            code = f"{ord(character):04X}"
            return f"LaTeX Error: Unicode character {character} (U+{code}) not set up for use with LaTeX."
    return None


def _unclosed(text: str) -> str | None:
    """Return what LaTeX says about an environment that is not closed, or in one that can't contain it."""
    open_ones: list[str] = []
    for match in re.finditer(r"\\(begin|end)\{([a-zA-Z]+\*?)\}", _without_comments(text)):
        if match[1] == "begin":
            open_ones.append(match[2])
            continue
        begun = open_ones.pop() if open_ones else "align*"
        if begun != match[2] and (begun, match[2]) != ("align*", "array"):
            return f"LaTeX Error: \\begin{{{begun}}} ended by \\end{{{match[2]}}}."
    if open_ones and "array" not in open_ones:
        return f"LaTeX Error: \\begin{{{open_ones[-1]}}} ended by \\end{{align*}}."
    return None


def _without_comments(text: str) -> str:
    return re.sub(r"(?<!\\)%.*", "", text)


def _wrong_in_text(text: str) -> str | None:
    """Return what TeX says about characters of formulas in text."""
    if len(re.findall(r"(?<!\\)\$", text)) % 2 and "%" not in text and "\\verb" not in text:
        return "Missing $ inserted"
    plain = _outside_of_formulas(text)
    if plain is None or "\\begin" in plain or "\\verb" in plain:
        return None
    plain = re.sub(r"\\[_^&#{}]", "", plain)
    if re.search(r"#", plain):
        return "You can't use `macro parameter character #' in horizontal mode."
    if "\\" in plain:
        return None
    if _SCRIPT.search(plain):
        return "Missing $ inserted"
    if "&" in plain:
        return "Misplaced alignment tab character &."
    return None


def _outside_of_formulas(text: str) -> str | None:
    if "$$" in text or "\\(" in text or "\\[" in text or "%" in text:
        return None
    parts = text.replace("\\$", "").split("$")
    return "".join(parts[::2]) if len(parts) % 2 else None


def _wrong_in_formula(whole: str, texts: list[str]) -> str | None:
    """Return what TeX says about a formula, which is between dollars already."""
    for text in texts if len(texts) > 1 else ():
        if re.search(r"(?<!\\)[_^]\s*$", text):
            return "Missing { inserted."
    if re.search(r"\\begin\{(?:align|equation|gather|multline)\*?\}", whole):
        return "Package amsmath Error: Erroneous nesting of equation structures;"
    if re.search(r"(?<!\\)#", whole):
        return "You can't use `macro parameter character #' in math mode."
    if any(one in whole for one in ("\\text", "\\mbox", "%", "\\hbox", "\\intertext")):
        return None
    if re.search(r"(?<!\\)\$", whole) or "\n\n" in whole.strip():
        return "Missing $ inserted"
    if re.search(_TWICE.format(sign=r"\^"), whole):
        return "Double superscript."
    return "Double subscript." if re.search(_TWICE.format(sign="_"), whole) else None
