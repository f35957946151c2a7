"""Advice for messages of Python, NumPy and Manim that say what failed, but not what to write."""

import ast
import re

import manim

from .advice import Advice, nearest
from .place import Place, span_of

# Parts of messages, and what to do about them.
PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        # Python
        (
            r"unhashable type",
            "Keys of dictionaries and elements of sets can't change: use a tuple, `(1, 2)`.",
        ),
        (r"'tuple' object does not support item", "A tuple can't be changed: make it a list, `[…]`."),
        (
            r"'NoneType' object is not iterable|iterable, not NoneType",
            "It is None: the function returns nothing.",
        ),
        (
            r"'type' object is not iterable",
            "A class is where objects are expected: check the order of the arguments.",
        ),
        (
            r"'(?:int|float)' object is not subscriptable",
            "A number has no parts: a point is one argument, `[x, y, 0]`.",
        ),
        (
            r"'(?:int|float)' object is not iterable",
            "Give a list, such as `[1, 2]`; to count in a loop, `range(n)`.",
        ),
        (r"object of type '(?:int|float)' has no len", "Give a list, such as the range `[0, 10, 1]`."),
        (r"expected str instance, \w+ found", "Convert each to text: `str(n)`."),
        (
            r"must be real number, not (?:ValueTracker|DecimalNumber|Integer)",
            "Use its number: `.get_value()`.",
        ),
        (r"not supported between instances of .*'str'", "One side is text: convert it with `float(…)`."),
        (r"Unknown format code '[dfeg%]' for object of type 'str'", "Give a number, without quotes."),
        (r"math domain error", "The function has no value there: check the range of its argument."),
        (
            r"module\(\) takes at most 2 arguments",
            "The base of the class is a module: scenes are derived from `Scene`.",
        ),
        (r"None is not a callable", "Pass the function itself: its name, without `()`."),
        # NumPy
        (r"^ufunc ", "Give numbers or vectors, such as `UP` or `[x, y, 0]`."),
        (
            r"setting an array element with a sequence",
            "A point is three numbers; that of a tracker is `.get_value()`.",
        ),
        (r"Maximum allowed size exceeded", "The step of a range must not be 0."),
        # Manim
        (r"only works for VMobjects", "It has no outlines to draw: use `FadeIn(mobject)`."),
        (r"has no points", "A group has no points of its own: use one of its parts, such as `group[0]`."),
        (r"as a submobject of itself", "A group can't contain itself: add it to another one."),
        (r"Too few rows and columns", "Give more `rows` or `cols`, or fewer mobjects."),
        (r"at least one color", "Give at least one colour, such as `BLUE`."),
        (r"shape should be either", "Give `shape=Rectangle` or `shape=Circle`."),
        (r"lines are parallel", "The two lines never meet: check their ends."),
        (r"font_size must be", "Give a size above 0, such as `font_size=48`."),
        (
            r"smaller than half the distance",
            "The radius must be at least half the distance between the points.",
        ),
        (r"get_point_mobject not implemented", "Give the mobject that it becomes, too: `Transform(a, b)`."),
    )
)
_FONT = re.compile(r"There is no Font \w+ Called (.+)")
_ABOUT_TEXT = re.compile(r"'str' object|\bufunc\b|StrDType|<U\d")
OF_TEXT = ("Text", "MarkupText", "Tex", "MathTex", "Title", "Paragraph", "BulletedList", "Code", "str")
# Directions that are written as text.
_DIRECTIONS = {
    **{
        name.casefold(): name
        for name in ("UP", "DOWN", "LEFT", "RIGHT", "UL", "UR", "DL", "DR", "ORIGIN", "IN", "OUT")
    },
    "top": "UP",
    "bottom": "DOWN",
    "above": "UP",
    "below": "DOWN",
    "center": "ORIGIN",
    **{f"{word}left": "UL" for word in ("top", "upper", "up")},
    **{f"{word}right": "UR" for word in ("top", "upper", "up")},
    **{f"{word}left": "DL" for word in ("bottom", "lower", "down")},
    **{f"{word}right": "DR" for word in ("bottom", "lower", "down")},
}
_TEXTS = ("submobjects", "points", "updaters", "family_members_with_points")


def of_phrase(message: str) -> str | None:
    """Return what to do about a message; None if that is not known."""
    return next((hint for pattern, hint in PHRASES if pattern.search(message)), None)


def of_font(message: str) -> Advice | None:
    """Return advice for a weight or slant of a text that is not there."""
    match = _FONT.search(message)
    if match is None:
        return None
    names = [one for one, value in vars(manim).items() if isinstance(value, str) and value == one]
    candidates = nearest(match[1].upper().replace(" ", ""), names)
    written = f"use `{candidates[0]}`" if candidates else "use `NORMAL` or `BOLD`"
    return Advice("scene:value", f"The names of Manim are constants: {written}.", candidates)


def of_quotes(message: str, place: Place | None, code: str) -> Advice | None:
    """Return advice for a name of Manim that is written as text, such as `rate_func="linear"`."""
    if place is None or place.node is None or not _ABOUT_TEXT.search(message):
        return None
    for call in ast.walk(place.node):
        if not isinstance(call, ast.Call) or getattr(call.func, "id", None) in OF_TEXT:
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            name = given.value if isinstance(given, ast.Constant) else None
            name = (
                _DIRECTIONS.get(re.sub(r"[ _-]", "", name).casefold(), name)
                if isinstance(name, str)
                else name
            )
            value = vars(manim).get(name) if isinstance(name, str) else None
            if value is not None and not isinstance(value, manim.ManimColor):
                hint = f"It is a name, without quotes: use `{name!s}`."
                return Advice("scene:type", hint, (str(name),), span_of(given, code))
    return None


def of_text(name: str) -> str | None:
    """Return what to do about text where a mobject is expected, by the attribute that it does not have."""
    if name in _TEXTS or any(name in vars(base) for base in manim.VMobject.__mro__):
        return "It is text: make a mobject of it, `Text('…')`."
    return None
