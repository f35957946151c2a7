"""Formulas that TeX can't set, as far as their text tells."""

import re
import types
from functools import cache
from typing import TYPE_CHECKING

from manim import MathTex, Tex

from ..advice import typeset
from ..advice.advice import Advice
from ..scene_error import SceneError
from . import tex_names
from .pure import Unclear, literal
from .reading import Reading

if TYPE_CHECKING:
    from .calls import Arguments

_INVALID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Commands whose first letter makes a blank of the backslash: `\\theta` shows "heta".
_SHORTENED = re.compile(r"\t(?:heta|imes|ext|an|au|o|frac|riangle|ilde|binom)(?![a-z])|\r(?:ho|ight|angle)")
_COMMAND = re.compile(r"\\([a-zA-Z]+|.)", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z*]+)\}")
_DEFINES = re.compile(r"\\(?:re)?newcommand|\\(?:g|e|x)?def\b|\\let\b|\\DeclareMathOperator|\\usepackage|\\input")
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
    if _DEFINES.search(whole):
        return None
    for text in texts:
        if (name := _unknown_command(text)) is not None:
            return _report(reading, arguments, f"Undefined control sequence \\{name}", text)
        if (name := _unknown_environment(text)) is not None:
            return _report(reading, arguments, f"LaTeX Error: Environment {name} undefined.", text)
    if "tex_environment" in arguments.named or arguments.has_more or len(texts) != len(arguments.given):
        return None
    if issubclass(kind, Tex) and kind.__init__ is Tex.__init__:
        return _check_text(reading, arguments, whole)
    if kind is MathTex:
        return _check_formula(reading, arguments, whole)
    return None


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


def _report(reading: Reading, arguments: "Arguments", message: str, text: str) -> None:
    is_math = not (isinstance(arguments.node.func, object) and _is_text(reading, arguments))
    said = f"TeX: {message}"
    hint, candidates = typeset.advice_for(said, text, is_math=is_math)
    error = SceneError(said, "tex", hint=hint, candidates=candidates)
    reading.error(error, arguments.node, advice=Advice("tex", hint, candidates))


def _is_text(reading: Reading, arguments: "Arguments") -> bool:
    made = reading.values.get(arguments.node.func)
    return made is not None and isinstance(made.thing, type) and issubclass(made.thing, Tex)


def _unknown_command(text: str) -> str | None:
    known = tex_names.commands()
    if known is None:
        return None
    for match in _COMMAND.finditer(_without_comments(text)):
        name = match[1]
        if len(name) > 1 and name not in known and "@" not in name:
            return name
    return None


def _unknown_environment(text: str) -> str | None:
    known = tex_names.commands()
    if known is None:
        return None
    return next((match[1] for match in _ENVIRONMENT.finditer(text) if match[1] not in known), None)


def _without_comments(text: str) -> str:
    return re.sub(r"(?<!\\)%.*", "", text)


def _check_text(reading: Reading, arguments: "Arguments", whole: str) -> None:
    """Check text with formulas: what belongs into a formula is between dollars."""
    plain = _outside_of_formulas(whole)
    if plain is None or "\\" in plain.replace("\\_", "").replace("\\^", "").replace("\\&", ""):
        return
    if _SCRIPT.search(plain.replace("\\_", "").replace("\\^", "")):
        _report(reading, arguments, "Missing $ inserted", whole)


def _outside_of_formulas(text: str) -> str | None:
    if "$$" in text or "\\(" in text or "\\[" in text or "%" in text:
        return None
    parts = text.replace("\\$", "").split("$")
    return "".join(parts[::2]) if len(parts) % 2 else None


def _check_formula(reading: Reading, arguments: "Arguments", whole: str) -> None:
    """Check a formula: it is between dollars already, and scripts of one place are one."""
    if "\\text" in whole or "\\mbox" in whole or "%" in whole or "\\hbox" in whole:
        return
    if re.search(r"(?<!\\)\$", whole):
        _report(reading, arguments, "Missing $ inserted", whole)
    elif re.search(r"\^(?:\w|\{\w\})\^(?:\w|\{)", whole):
        _report(reading, arguments, "Double superscript.", whole)
    elif re.search(r"_(?:\w|\{\w\})_(?:\w|\{)", whole):
        _report(reading, arguments, "Double subscript.", whole)
    elif "\n\n" in whole.strip():
        _report(reading, arguments, "Missing $ inserted", whole)


@cache
def _unused(function: types.FunctionType) -> None:
    """Keep nothing."""
