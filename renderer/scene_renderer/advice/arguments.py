"""Advice for calls that fail: unknown or missing arguments, and objects of the wrong type."""

import ast
import dataclasses
import re
from collections.abc import Sequence

import manim

from . import call_edits, renamed, signatures
from .advice import Advice, did_you_mean, instead, nearest
from .names import missing_attribute
from .place import Place, callee_of, keyword_of, last_name, span_of, value_of

_UNEXPECTED = re.compile(r"got an unexpected keyword argument '([^']+)'")
_MISSING = re.compile(r"missing (\d+) required (?:positional|keyword-only) arguments?: (.+)")
_TOO_MANY = re.compile(r"takes .*(?:positional arguments?|arguments?) but (\d+) (?:was|were) given")
_TWICE = re.compile(r"got multiple values for (?:keyword )?argument '([^']+)'")
_GETTER = re.compile(r"\.(?:getter|setter)\(\) (?:takes|missing|got)")
_NOT_AN_ANIMATION = re.compile(r"cannot be converted to an animation$")
_NOT_CALLABLE = re.compile(r"'([^']+)' object is not callable")
_OPERANDS = re.compile(r"unsupported operand type\(s\) for (.+?): '([^']+)' and '([^']+)'")
_CONCATENATED = re.compile(r"can only concatenate (list|tuple|str) \(not \"([\w.]+)\"\)")
_FAILED = re.compile(r"([\w.<>]+)\(\) (?:missing|takes)")
_CONVERTED = re.compile(r"Object (\w+) cannot be converted to an animation$")
_SHOWN_MAX = 12
_SEQUENCES = ("list", "tuple")


def of_type(error: TypeError, place: Place | None, code: str) -> Advice:
    """Return advice for an argument or an operand that doesn't fit."""
    message = str(error)
    if _GETTER.search(message):
        return _of_accessor(place, code)
    if match := _UNEXPECTED.search(message):
        return _of_keyword(match[1], message, place, code)
    if match := _MISSING.search(message):
        fix = call_edits.without_parameter(place, code)
        return Advice("scene:argument", _of_missing(message, place), fix=fix)
    if _TOO_MANY.search(message):
        fix = (
            call_edits.method_with_self(message, code)
            or call_edits.with_first_parameter(message, code)
            or call_edits.without_star(place, code)
        )
        return Advice("scene:argument", _of_too_many(message, place), fix=fix)
    if match := _TWICE.search(message):
        return _of_twice(match[1], place, code)
    if _NOT_AN_ANIMATION.search(message) or "to Scene.play" in message:
        return Advice(
            "scene:argument", _of_play(message, place), fix=call_edits.animated(message, place, code)
        )
    if message == "Animation only works on Mobjects":
        hint = "The first argument of an animation is its mobject. For several mobjects use `VGroup(…)`."
        return Advice("scene:argument", hint)
    if match := _NOT_CALLABLE.search(message):
        return Advice("scene:type", _of_not_callable(match[1], place))
    if match := _CONCATENATED.search(message):
        fix = call_edits.as_text(place, code) if match[1] == "str" else None
        return Advice("scene:type", _of_concatenation(match[1], match[2]), fix=fix)
    if match := _OPERANDS.search(message):
        fix = call_edits.called(place, code)
        return Advice("scene:type", _of_operands(match[1], match[2], match[3]), fix=fix)
    if "can't multiply sequence by non-int" in message:
        return Advice("scene:type", "For points and vectors use `np.array([x, y, 0])` instead of a list.")
    if "VMobject can be added" in message and "is of type str" in message:
        return Advice("scene:type", "Make a mobject of the text: `Text('…')`.", ("Text",))
    if "VMobject can be added" in message or "add this value into a Group" in message:
        return Advice(
            "scene:type", "For images and other mobjects that are not VMobjects use `Group(…)`.", ("Group",)
        )
    return Advice("scene:type")


def _of_accessor(place: Place | None, code: str) -> Advice:
    """Advise on `get_…` and `set_…`, for which Manim makes a function whatever follows."""
    node = place.node if place else None
    found = _of_called(node, place)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and found.candidates:
        return dataclasses.replace(found, span=last_name(node.func, code))
    return found


def _of_called(node: ast.expr | None, place: Place | None) -> Advice:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = value_of(node.func.value, place.frame if place else None)
        if owner is not None:
            found = _methods_first(missing_attribute(owner, node.func.attr), owner)
            said = f"`{type(owner).__name__}` has no method `{node.func.attr}`."
            hint = said if not found.hint or found.hint.startswith("`") else f"{said} {found.hint}"
            return Advice("scene:attribute", found.hint if _is_renaming(found) else hint, found.candidates)
        said = f"There is no method `{node.func.attr}` with these arguments."
        candidates = nearest(node.func.attr, dir(manim.VMobject))
        new = _renamed_anywhere(node.func.attr)
        if new is not None:
            return Advice("scene:attribute", instead(node.func.attr, new), (new.name,) if new.name else ())
        return Advice("scene:attribute", f"{said} {did_you_mean(candidates) or ''}".strip(), candidates)
    return Advice("scene:attribute", "There is no method of this name with these arguments.")


def _methods_first(found: Advice, owner: object) -> Advice:
    """Leave out names of attributes that can't be called, if others remain."""
    methods = tuple(one for one in found.candidates if callable(getattr(type(owner), one, None)))
    if not methods or methods[0] == found.candidates[0]:
        return found
    return dataclasses.replace(found, hint=did_you_mean(methods), candidates=methods)


def _is_renaming(found: Advice) -> bool:
    return found.hint is not None and found.hint.startswith(("Manim has no", "Use ", "Call "))


def _renamed_anywhere(name: str) -> renamed.Renamed | None:
    return next((names[name] for names in renamed.ATTRIBUTES.values() if name in names), None)


def _of_keyword(keyword: str, message: str, place: Place | None, code: str) -> Advice:
    node, frame = (place.node, place.frame) if place else (None, None)
    refusing = signatures.named_in(message)  # what it was passed on to
    called = callee_of(node, frame) or refusing
    found = keyword_of(node, keyword)
    span = span_of(found, code) if found else None
    functions = [function for function in (called, refusing) if function is not None]
    accepted = list(dict.fromkeys(name for one in functions for name in signatures.keywords_of(one)))
    candidates = nearest(keyword, [name for name in accepted if name not in _given(node, called)])
    new = renamed_keyword(called, keyword, accepted)
    if new is not None and (new.name is not None or not candidates):
        written = new.advice or f"`{keyword}` is not accepted here: use `{new.name}`."
        fix = call_edits.within(called, keyword, place, code)
        return Advice("scene:argument", written, (new.name,) if new.name else (), span, fix)
    hint = did_you_mean(candidates) or _accepts(called, accepted)
    return Advice("scene:argument", hint, candidates, span, call_edits.within(called, keyword, place, code))


def _of_twice(keyword: str, place: Place | None, code: str) -> Advice:
    node, frame = (place.node, place.frame) if place else (None, None)
    called, found = callee_of(node, frame), keyword_of(node, keyword)
    new = renamed_keyword(called, keyword, signatures.keywords_of(called))
    if new is not None and new.name is not None and found is not None:
        hint = new.advice or f"`{keyword}` is not accepted here: use `{new.name}`."
        return Advice("scene:argument", hint, (new.name,), span_of(found, code))
    hint = f"`{keyword}` is given twice: by position and by name. {_call(place)}".strip()
    return Advice("scene:argument", hint)


def _given(node: ast.AST | None, called: object) -> set[str]:
    """Return the names of the arguments that a call has already."""
    if not isinstance(node, ast.Call):
        return set()
    by_place = signatures.names_of(called, len(node.args))
    return {*by_place, *(keyword.arg for keyword in node.keywords if keyword.arg is not None)}


def renamed_keyword(called: object, keyword: str, accepted: Sequence[str]) -> renamed.Renamed | None:
    """Return what a keyword argument is called now; None if that isn't known, or not accepted here."""
    bases = [base.__name__ for base in called.__mro__] if isinstance(called, type) else []
    for name in dict.fromkeys([*bases, getattr(called, "__name__", ""), "object"]):
        new = renamed.KEYWORDS.get(name, {}).get(keyword)
        if new is not None and (new.name is None or new.name in accepted or not accepted):
            return new
    return None


def _accepts(called: object, accepted: Sequence[str]) -> str | None:
    name = getattr(called, "__name__", None)
    if not name or not accepted:
        return None
    others = " and others" if len(accepted) > _SHOWN_MAX else ""
    return f"`{name}` accepts {', '.join(accepted[:_SHOWN_MAX])}{others}."


def _of_missing(message: str, place: Place | None) -> str:
    if "construct()" in message or "'self'" in message:
        return "Methods of a scene take `self` and nothing else: `def construct(self):`."
    if "<lambda>" in message:
        return (
            "It was called with fewer arguments than it has parameters: an updater takes `m` or `m, dt`, "
            "a plotted function takes `x`."
        )
    if (name := _called_back(message, place)) is not None:
        return (
            f"`{name}` has more parameters than Manim gives it arguments: an updater takes `mob` or "
            "`mob, dt`, the function of `UpdateFromAlphaFunc` takes `mob, alpha`, that of a plot takes `x`."
        )
    return _call(place) or "Give the arguments that are missing."


def _called_back(message: str, place: Place | None) -> str | None:
    """Return the name of the author's function that was called by what is called there."""
    match = _FAILED.match(message)
    called = callee_of(place.node, place.frame) if place else None
    if match is None or called is None or "<locals>" not in match[1]:
        return None
    name = match[1].rpartition(".")[2]
    return name if getattr(called, "__name__", name) != name else None


def _of_too_many(message: str, place: Place | None) -> str:
    if "<lambda>" in message:
        return "It is called with an argument: `lambda m: …` for an updater, `lambda x: …` for a plot."
    if "construct()" in message or re.search(r"takes 0 positional arguments but 1 was given", message):
        return "A method's first parameter is `self`: `def construct(self):`."
    return _call(place) or "Give fewer arguments, or name them."


def _call(place: Place | None) -> str:
    """Show how what was called there is called."""
    called = callee_of(place.node, place.frame) if place else None
    shown = signatures.call_of(called) if called is not None else None
    return f"Call it as `{shown}`." if shown else ""


def _of_play(message: str, place: Place | None) -> str:
    node, frame = (place.node, place.frame) if place else (None, None)
    arguments = node.args if isinstance(node, ast.Call) else []
    converted = _CONVERTED.search(message)
    kind = vars(manim).get(converted[1]) if converted else None
    for argument in arguments:
        if isinstance(argument, ast.Call) and ast.unparse(argument.func) == "self.wait":
            return "Within `play` use `Wait(1)`; or call `self.wait` after it, on its own."
        is_list = (
            isinstance(argument, ast.Name) and isinstance(kind, type) and issubclass(kind, manim.Mobject)
        )
        if is_list and isinstance(value_of(argument, frame), list | tuple):
            return f"Make an animation of each: `*[Create(mobject) for mobject in {ast.unparse(argument)}]`."
        value = value_of(argument, frame)
        if isinstance(argument, ast.List | ast.Tuple) or isinstance(value, list | tuple):
            return "Put a star before the list: `self.play(*animations)`."
        if isinstance(value, type) and issubclass(value, manim.Animation):
            return f"`{value.__name__}` is a class: give it its mobject, `{value.__name__}(mobject)`."
        if isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute):
            owner = value_of(argument.func.value, frame)
            if isinstance(owner, manim.Mobject):
                return "Put `.animate` before the method: `mobject.animate.shift(…)`."
        made = value_of(argument.func, frame) if isinstance(argument, ast.Call) else None
        is_made = isinstance(made, type) and issubclass(made, manim.Mobject)
        if isinstance(value, manim.Mobject) or is_made:
            return "A mobject is not an animation: write `Create(mobject)` or `mobject.animate.…`."
    return (
        "`play` takes animations: `Create(mobject)`, or `mobject.animate.shift(…)` for a change of a mobject."
    )


def _of_not_callable(kind: str, place: Place | None) -> str:
    called = callee_of(place.node, place.frame) if place else None
    if kind == "str" and place and keyword_of(place.node, "rate_func") is not None:
        return "Give the function itself, without quotes: `smooth`, or `rate_functions.ease_in_out_sine`."
    if callable(called):
        return "Give a function as the argument: its name without `()`, or `lambda x: …`."
    return f"It is of type `{kind}`, not a function: remove the parentheses, or multiply with `*`."


def _of_concatenation(left: str, right: str) -> str:
    if left == "str":
        return 'Convert it to text: `str(n)`, or write an f-string such as `f"Terms: {n}"`.'
    if right in _SEQUENCES:
        return f"Convert one to the type of the other, such as `{left}(…)`."
    return "For points and vectors use `np.array([x, y, 0])` instead of a list or tuple."


def _of_operands(operator: str, left: str, right: str) -> str:
    if left in _SEQUENCES or right in _SEQUENCES:
        return "For points and vectors use `np.array([x, y, 0])` instead of a list or tuple."
    if "NoneType" in (left, right):
        return "One side is None: the function that it comes from returns nothing."
    if "method" in left + right or "function" in left + right:
        return "One side is a function: call it, with `()`."
    if "str" in (left, right):
        return "One side is text: convert it with `float(…)`, or the other with `str(…)`."
    if {left, right} & {"ValueTracker", "DecimalNumber", "Integer"}:
        return "Use its number: `.get_value()`."
    if any(isinstance(vars(manim).get(name), type) for name in (left, right)):
        return "To calculate with positions use `.get_center()`; to change the size use `.scale(factor)`."
    return f"`{operator}` needs two numbers or arrays: convert one side."
