"""Replacements of a whole string of TeX, or of the call that makes a formula of it."""

import ast
import re
import unicodedata
from collections.abc import Iterator

from ..messages import Fix
from .calls import written
from .edits import after, instead
from .latex import LATEX

_ENDED = re.compile(r"\\begin\{(\w+\*?)\}(?: on input line \d+)? ended by \\end\{(\w+\*?)\}")
_NESTED = {"align": "aligned", "align*": "aligned", "gather": "gathered", "gather*": "gathered"}
_NEEDLESS = ("equation", "equation*", "displaymath", "math")
_FORMULAS = ("MathTex", "Tex", "SingleStringMathTex", "Title", "BulletedList")
# Commands of characters, by the character.
_SYMBOLS: dict[str, str] = LATEX["characters"]
_LIKE_LATIN = {"ALPHA": "A", "BETA": "B", "EPSILON": "E", "ZETA": "Z", "ETA": "H", "IOTA": "I", "KAPPA": "K"}
_LIKE_LATIN |= {"MU": "M", "NU": "N", "OMICRON": "O", "RHO": "P", "TAU": "T", "UPSILON": "Y", "CHI": "X"}
# Commands of formulas without arguments, which are set between dollars where they are in text.
_SIGNS = frozenset(LATEX["signs"])
_LITERAL = re.compile(r"(?s)([rRuU]?)('''|\"\"\"|'|\")(.*)\2")


def fix_of(message: str, node: ast.expr, packages: tuple[str, ...], code: str) -> Fix | None:
    """Return what to write instead of a string in a call that makes formulas; None if that is not certain."""
    call = _call(node)
    if call is None:
        return None
    if packages:
        return _with_package(call, packages[0], code)
    is_math = getattr(call.func, "id", None) in ("MathTex", "SingleStringMathTex")
    if not is_math and "Missing $ inserted" in message and (found := _as_formula(call, code)) is not None:
        return found
    changed = (
        (string, new) for string in call.args for new in _changed(string, message, code, is_math=is_math)
    )
    fixes = [instead(string, new, code) for string, new in changed]
    return fixes[0] if len(fixes) == 1 else None


def _call(node: ast.expr) -> ast.Call | None:
    calls = [one for one in ast.walk(node) if isinstance(one, ast.Call)]
    found = [one for one in calls if getattr(one.func, "id", None) in _FORMULAS]
    return found[0] if len(found) == 1 else None


def _with_package(call: ast.Call, package: str, code: str) -> Fix | None:
    if any(keyword.arg in ("tex_template", None) for keyword in call.keywords) or not call.args:
        return None
    last = max(
        (*call.args, *(one.value for one in call.keywords)),
        key=lambda one: (one.end_lineno, one.end_col_offset),
    )
    template = f'TexTemplate().add_to_preamble(r"\\usepackage{{{package}}}")'
    return after(last, f", tex_template={template}", code)


def _as_formula(call: ast.Call, code: str) -> Fix | None:
    """Write `MathTex` for `Tex` where all of its text is a formula."""
    texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if (
        len(texts) != len(call.args)
        or getattr(call.func, "id", None) != "Tex"
        or any("$" in one for one in texts)
    ):
        return None
    plain = re.sub(r"\\(?:text|mathrm|operatorname)\{[^}]*\}|\\[a-zA-Z]+", " ", " ".join(texts))
    return None if re.search(r"[a-zA-Z]{3}|\w_\w\w\w", plain) else instead(call.func, "MathTex", code)


def _changed(node: ast.expr, message: str, code: str, *, is_math: bool) -> Iterator[str]:
    """Yield what is written for a string in which the message says that something is wrong."""
    literal = _LITERAL.fullmatch(written(node, code))
    if literal is None or not isinstance(node, ast.Constant):
        return
    is_raw = literal[1] in ("r", "R")
    slash = "\\" if is_raw else "\\\\"
    text = literal[3]
    new = text
    if "Unicode character" in message:
        new = _without_unicode(text, slash, is_math=is_math)
    elif match := _ENDED.search(message):
        new = text.replace(f"{slash}end{{{match[2]}}}", f"{slash}end{{{match[1]}}}", 1) if is_math else text
    elif re.search(r"nesting of equation|math environment delimiter|has an extra }", message) and is_math:
        new = _unnested(text, slash)
    elif is_math and re.search(r"Missing [$}{] inserted|math mode", message):
        new = _without_dollars(text) or _with_brace(text)
    elif not is_math and "Misplaced alignment tab" in message:
        new = re.sub(r"(?<!\\)&", lambda _: f"{slash}&", text)
    elif "macro parameter character" in message:
        new = re.sub(r"(?<!\\)#", lambda _: f"{slash}#", text)
    elif "Missing $ inserted" in message:
        new = _escaped(text, slash)
    if new != text:
        prefix = "" if is_raw else literal[1]
        yield f"{'r' if is_raw else prefix}{literal[2]}{new}{literal[2]}"


def _without_unicode(text: str, slash: str, *, is_math: bool) -> str:
    """Write characters as commands; the text itself if one has none."""
    parts: list[str] = []
    is_inside = False
    for index, character in enumerate(text):
        is_inside ^= character == "$"
        command = character if character < "\x7f" else _command_of(character)
        if command is None:
            return text
        command = command.replace("\\", slash) if character > "\x7f" else command
        if character > "\x7f" and not is_math and not is_inside:
            command = f"${command}$"
        elif character > "\x7f" and text[index + 1 : index + 2].isalpha() and command[-1:].isalpha():
            command += " "
        parts.append(command)
    return "".join(parts)


def _command_of(character: str) -> str | None:
    if character in _SYMBOLS:
        return _SYMBOLS[character]
    match = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", unicodedata.name(character, ""))
    if match is None:
        return None
    name = {"LAMDA": "lambda"}.get(match[2], match[2].lower())
    if match[1] == "SMALL":
        return "o" if name == "omicron" else f"\\{name}"
    return _LIKE_LATIN.get(match[2], f"\\{name.capitalize()}")


def _unnested(text: str, slash: str) -> str:
    """Write environments that formulas can contain for those that they are in already."""
    for old, new in _NESTED.items():
        text = text.replace(f"{{{old}}}", f"{{{new}}}")
    for name in _NEEDLESS:
        text = text.replace(f"{slash}begin{{{name}}}", "").replace(f"{slash}end{{{name}}}", "")
    return text


def _without_dollars(text: str) -> str | None:
    match = re.fullmatch(r"\s*(\$\$?)([^$]+)\1\s*", text)
    return match[2] if match else None


def _with_brace(text: str) -> str:
    """Close the first argument of a command where the second one begins."""
    opened, closed = (len(re.findall(rf"(?<!\\)\{sign}", text)) for sign in "{}")
    if opened - closed == 1 and text.count("}{") == 1 and re.search(r"\\[dt]?frac\{|\\binom\{", text):
        return text.replace("}{", "}}{")
    return text


def _escaped(text: str, slash: str) -> str:
    """Write the underscores of names as characters, if nothing else is of formulas."""
    parts = text.split("$")
    plain = "".join(parts[::2])
    commands = [*re.finditer(r"\\+([a-zA-Z]+)(?:[_^](?:\{[^{}]*\}|\w))*", plain)]
    if len(parts) == 1 and commands and all(match[1] in _SIGNS for match in commands):
        return re.sub(r"\\+[a-zA-Z]+(?:[_^](?:\{[^{}]*\}|\w))*", lambda match: f"${match[0]}$", text)
    if (
        len(parts) % 2 == 0
        or re.search(r"[\\^{}]", plain)
        or not re.search(r"[a-zA-Z]{2,}_\w|\w_[a-zA-Z]{2,}", plain)
    ):
        return text
    return "$".join(
        part.replace("_", f"{slash}_") if index % 2 == 0 else part for index, part in enumerate(parts)
    )
