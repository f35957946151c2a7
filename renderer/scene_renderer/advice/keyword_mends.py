"""Keyword arguments that become something else: a method, a range, another value, or nothing."""

import ast
import re

import manim

from ..messages import Fix
from . import signatures
from .calls import arguments, around, between, called_with, method_of, without_keyword, written
from .edits import fix, instead
from .mend import Mend, Rule
from .place import Place, callee_of, keyword_of, span_of, value_of

_UNEXPECTED = re.compile(
    r"got (?:an unexpected keyword argument|multiple values for (?:keyword )?argument) '([^']+)'"
)
_BOUND = re.compile(r"([xyztuv])_?(min|max)")
# Keyword arguments whose value is given to a method of the mobject.
_METHODS = {
    **dict.fromkeys(("position", "pos", "location", "center", "point", "coords"), "move_to"),
    **dict.fromkeys(("rotation", "rotate", "angle"), "rotate"),
    **dict.fromkeys(("scale", "scale_factor"), "scale"),
    **{
        name: name
        for name in ("shift", "to_edge", "to_corner", "move_to", "next_to", "align_to", "set_color")
    },
}
_TIMING = ("run_time", "rate_func", "lag_ratio")
# What is written instead of a keyword argument: `{}` stands for its value; without it, the value is True.
_WRITTEN: dict[str, dict[str, str]] = {
    "Text": {"bold": "weight=BOLD", "italic": "slant=ITALIC"},
    "VMobject": {
        "fill": "fill_opacity=1",
        "filled": "fill_opacity=1",
        "diameter": "radius=({}) / 2",
        "x_radius": "width=2 * ({})",
        "y_radius": "height=2 * ({})",
        "degrees": "angle=({}) * DEGREES",
        "headers": "col_labels=[Text(str(one)) for one in {}]",
        "max_value": "y_range=[0, {}]",
        "size": "side_length={}",
        "width": "side_length={}",
        "height": "side_length={}",
        "value": "number={}",
        "labels": "bar_names={}",
        "numbers": "include_numbers={}",
        "range": "x_range={}",
        "from_": "start={}",
        "to": "end={}",
    },
    "Animation": {"degrees": "angle=({}) * DEGREES", "from_direction": "shift={}"},
    "rotate": {"degrees": "angle=({}) * DEGREES"},
    "wait": dict.fromkeys(("time", "seconds", "secs", "t", "run_time", "runtime"), "duration={}"),
    "align_to": {"side": "direction={}", "edge": "direction={}"},
    "set_opacity": {"alpha": "opacity={}", "fill_opacity": "opacity={}"},
    "next_to": {"position": "direction={}", "side": "direction={}", "edge": "direction={}"},
    "get_graph_label": {"text": "label={}", "x": "x_val={}"},
    "RightAngle": {"size": "length={}"},
    "Line": {"width": "stroke_width={}"},
    "Circle": {"width": "radius=({}) / 2", "size": "radius={}"},
}
# Arguments that a class has no use for, and why.
_USELESS: dict[str, tuple[frozenset[str], str]] = {
    "SingleStringMathTex": (
        frozenset(("font", "weight", "slant", "line_spacing")),
        "LaTeX sets formulas in its own font: leave out `{}`.",
    ),
    "Text": (
        frozenset(("alignment", "align", "justify")),
        "`Text` is not aligned: leave out `{}`, or use `Paragraph`.",
    ),
    "Arc": (frozenset(("font_size",)), "It has no text: leave out `{}`."),
    "Polygram": (frozenset(("font_size",)), "It has no text: leave out `{}`."),
    "Line": (frozenset(("font_size",)), "It has no text: leave out `{}`."),
}


def _of_keyword(error: BaseException, place: Place, code: str) -> Mend | None:
    match = _UNEXPECTED.search(str(error))
    node = place.node
    found = keyword_of(node, match[1]) if match else None
    if match is None or found is None or not isinstance(node, ast.Call):
        return None
    called = callee_of(node, place.frame) or signatures.named_in(str(error))
    accepted = signatures.keywords_of(called) if called is not None else []
    return (
        _timed(node, found, place, code)
        or _written(called, found, accepted, code)
        or _useless(called, found, code)
        or _range(node, found, accepted, code)
        or _method(node, called, found, code)
    )


def _names_of(called: object, node: ast.Call | None = None) -> list[str]:
    bases = [base.__name__ for base in called.__mro__] if isinstance(called, type) else []
    return [*bases, getattr(called, "__name__", "")]


def _written(called: object, found: ast.keyword, accepted: list[str], code: str) -> Mend | None:
    name = found.arg or ""
    for base in _names_of(called):
        text = _WRITTEN.get(base, {}).get(name)
        new = text.partition("=")[0] if text else ""
        if text is None or new not in accepted:
            continue
        is_true = isinstance(found.value, ast.Constant) and found.value.value is True
        if "{}" not in text and not is_true:
            continue
        if text == f"{new}={{}}":
            return Mend(_renamed(found, new, code), f"`{name}` is not accepted here: use `{new}`.")
        value = written(found.value, code)
        if isinstance(found.value, ast.Constant | ast.Name | ast.Attribute):
            text = text.replace("({})", "{}")
        text = text.replace("{}", value)
        return Mend(between(found, found, text, code), f"`{name}` is not accepted here: write `{text}`.")
    return None


def _renamed(keyword: ast.keyword, name: str, code: str) -> Fix | None:
    span = span_of(keyword, code)
    end = (span.column or 0) + len(keyword.arg or "")
    return None if span.column is None else fix(span.line, span.column, end, name)


def _useless(called: object, found: ast.keyword, code: str) -> Mend | None:
    for base in _names_of(called):
        names, why = _USELESS.get(base, (frozenset(), ""))
        if found.arg in names:
            return Mend(without_keyword(found, code), why.format(found.arg))
    return None


def _range(node: ast.Call, found: ast.keyword, accepted: list[str], code: str) -> Mend | None:
    """Return the range of which two keywords are the ends."""
    match = _BOUND.fullmatch(found.arg or "")
    if match is None:
        return None
    new = f"{match[1]}_range"
    is_passed_on = method_of(node) in ("plot_parametric_curve", "plot_polar_graph") and match[1] == "t"
    if new not in accepted and not is_passed_on:
        return None
    hint = f"Write `{new}=[min, max]`."
    if keyword_of(node, new) is not None:
        return Mend(without_keyword(found, code), hint)
    other_end = "max" if match[2] == "min" else "min"
    others = [keyword_of(node, name) for name in (f"{match[1]}_{other_end}", f"{match[1]}{other_end}")]
    other = next((one for one in others if one is not None), None)
    if other is None:
        return None
    ends = [found, other] if match[2] == "min" else [other, found]
    text = f"{new}=[{', '.join(written(end.value, code) for end in ends)}]"
    first, last = sorted((found, other), key=lambda one: (one.lineno, one.col_offset))
    at = node.keywords.index(first)
    if node.keywords[at + 1] is last and (both := between(first, last, text, code)) is not None:
        return Mend(both, hint)
    return Mend(between(found, found, text, code), hint)


def _method(node: ast.Call, called: object, found: ast.keyword, code: str) -> Mend | None:
    """Return the call with a method of the mobject instead of a keyword."""
    method = _METHODS.get(found.arg or "")
    if method is None or not isinstance(called, type) or not issubclass(called, manim.Mobject):
        return None
    call = f".{method}({written(found.value, code)})"
    given = arguments(node, code, [found.arg or ""])
    return Mend(
        called_with(node, code, given, call),
        f"`{found.arg}` is not accepted here: use the method `{method}`.",
    )


def _timed(node: ast.Call, found: ast.keyword, place: Place, code: str) -> Mend | None:
    """Move the duration of a change from its method to `animate`, or make an animation of the change."""
    if found.arg not in _TIMING or not isinstance(node.func, ast.Attribute):
        return None
    owner, method = node.func.value, node.func.attr
    timing = [written(one, code) for one in node.keywords if one.arg in _TIMING]
    given = arguments(node, code, _TIMING)
    hint = "A method has no duration: write `mobject.animate(run_time=2).shift(UP)` within `self.play`."
    animation = f"{{}}.animate({', '.join(timing)}).{method}({', '.join(given)})"
    if isinstance(owner, ast.Attribute) and owner.attr == "animate":
        return Mend(instead(node, animation.format(written(owner.value, code)), code), hint)
    if not isinstance(value_of(owner, place.frame), manim.Mobject):
        return None
    text = animation.format(written(owner, code))
    outer = around(node, code)
    if any(method_of(one) == "play" for one in outer if isinstance(one, ast.Call)):
        return Mend(instead(node, text, code), hint)
    if isinstance(next(iter(outer), None), ast.Expr):
        return Mend(instead(node, f"self.play({text})", code), hint)
    return None


def _side_of_point(error: BaseException, place: Place, code: str) -> Mend | None:
    """Add directions that are given as two arguments where one is taken."""
    node = place.node
    if not re.search(r"takes .*arguments? but \d+ were given|multiple values", str(error)):
        return None
    if not isinstance(node, ast.Call) or len(node.args) < 2:
        return None
    directions = [
        one for one in node.args if isinstance(one, ast.Name) and one.id in ("UP", "DOWN", "LEFT", "RIGHT")
    ]
    if len(directions) != 2 or node.args.index(directions[1]) != node.args.index(directions[0]) + 1:
        return None
    text = " + ".join(one.id for one in directions)
    return Mend(between(directions[0], directions[1], text, code), f"Add the directions: `{text}`.")


def _named(error: BaseException, place: Place, code: str) -> Mend | None:
    """Give the last argument of a class that takes fewer by place its name, where its value tells it."""
    node = place.node
    if not re.search(r"takes .*positional arguments? but \d+ were given", str(error)) or not isinstance(
        node, ast.Call
    ):
        return None
    called = callee_of(node, place.frame)
    accepted = signatures.keywords_of(called) if called is not None else []
    last = node.args[-1] if node.args else None
    given = {keyword.arg for keyword in node.keywords}
    is_one_more = last is not None and len(signatures.names_of(called, 20)) == len(node.args) - 1
    if last is None or not is_one_more or not isinstance(value_of(last, place.frame), manim.ManimColor):
        return None
    if "color" in accepted and "color" not in given:
        return Mend(
            between(last, last, f"color={written(last, code)}", code), "Name the argument: `color=…`."
        )
    if isinstance(node.func, ast.Attribute):
        shorter = ast.copy_location(ast.Call(node.func, node.args[:-1], node.keywords), node)
        kept = arguments(shorter, code)
        behind = f".set_color({written(last, code)})"
        return Mend(called_with(node, code, kept, behind), "Colour what it returns: `.set_color(…)`.")
    return None


RULES: tuple[Rule, ...] = (_of_keyword, _side_of_point, _named)
