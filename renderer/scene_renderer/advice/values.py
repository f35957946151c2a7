"""Advice for values, indexes, files and other errors of the scene's code."""

import ast
import re
import traceback

import manim
from manim.mobject.graph import _layouts

from .advice import Advice, did_you_mean, nearest
from .place import Place, callee_of, value_of

_COLOR = re.compile(r"[Cc]olor ['\"]?([\w ]+)['\"]? (?:is not|not) |Color (\w+) not found")
_SHAPE = re.compile(
    r"\(\d*,?\s*2,?\)|\(2,\)|could not broadcast|operands could not be broadcast|inhomogeneous shape"
)
_LAYOUT = re.compile(r"layout '([^']+)' is neither a recognized layout")
_UNPACK = re.compile(r"(too many|not enough) values to unpack")
_NO_FILE = re.compile(r"(?:could not find|No such file or directory)[: ]+'?([^'\n]+?)'?(?: at | in |$)")
_FILES = (
    "The file is not there. Scenes of a service can read what its operator has put into `assets/` of the "
    "studio folder; with `scenepress render` and `check` also the files beside the scene."
)
_NETWORK = "Scenes have no network: write the data into the code, or put a file into the studio's `assets/`."
_POINTS = "Points have three coordinates: `[x, y, 0]`."


def of_value(error: ValueError, place: Place | None) -> Advice:
    """Return advice for a value that can't be used."""
    message = str(error)
    if "no animations" in message:
        return Advice("scene:argument", "Give `self.play` at least one animation, or use `self.wait()`.")
    if "wait()" in message:
        return Advice("scene:value", "The duration must be greater than 0: remove the call of `wait`.")
    if "run_time" in message or "duration" in message:
        return Advice(
            "scene:value",
            "`run_time` must be greater than 0. To show a mobject at once use `self.add(mobject)`.",
        )
    if match := _COLOR.search(message):
        name = match[1] or match[2]
        colors = [one for one in vars(manim) if isinstance(vars(manim)[one], manim.ManimColor)]
        candidates = nearest(name.upper().replace(" ", "_"), colors)
        hint = (
            did_you_mean(candidates) or "Use a colour of Manim, such as `BLUE`, or `ManimColor('#58c4dd')`."
        )
        return Advice("scene:value", hint, candidates)
    if _UNPACK.search(message):
        return Advice(
            "scene:value", "The number of names on the left differs from the number of values on the right."
        )
    if _SHAPE.search(message):
        has_two = re.search(r"[(,] ?2[,)]|\(2,\)", message) is not None
        return Advice("scene:value", _POINTS if has_two else f"The arrays have different lengths. {_POINTS}")
    if "could not convert string" in message or "invalid literal" in message:
        return Advice("scene:value", "The text is not a number.")
    if "is not in list" in message or "substring" in message:
        return Advice("scene:lookup", "It does not contain the value: check with `in` before.")
    if match := _LAYOUT.search(message):
        candidates = nearest(match[1], _layouts)
        hint = did_you_mean(candidates) or f"The layouts are {', '.join(_layouts)}."
        return Advice("scene:value", hint, candidates)
    if _is_in(error, "get_part_by_tex", "set_color_by_tex", "index_of_part"):
        return Advice("scene:lookup", "Pass the part as a string of its own: `MathTex('a', '+', 'b')`.")
    return Advice("scene:value")


def of_lookup(error: LookupError, place: Place | None) -> Advice:
    """Return advice for an index or a key that isn't there."""
    node, frame = (place.node, place.frame) if place else (None, None)
    container = value_of(node.value, frame) if isinstance(node, ast.Subscript) else None
    if isinstance(error, KeyError):
        key = error.args[0] if error.args else None
        found = vars(container).get("submob_dict") if isinstance(container, manim.VDict) else container
        keys = [str(one) for one in found] if isinstance(found, dict) else []
        candidates = nearest(str(key), keys) if isinstance(key, str) else ()
        shown = ", ".join(f"`{one}`" for one in keys[:8])
        hint = did_you_mean(candidates) or (f"The keys are {shown}." if keys else "The key is not there.")
        return Advice("scene:lookup", hint, candidates)
    size = _size(container)
    if size is None:
        return Advice("scene:lookup", "The index is too large: indexes count from 0.")
    name = type(container).__name__
    if size == 0:
        return Advice("scene:lookup", f"This {name} is empty.")
    hint = f"This {name} has {size} part{'s' if size > 1 else ''}: the last index is {size - 1}."
    if isinstance(container, manim.MathTex) and size == 1:
        hint += " Pass the parts as strings of their own, or use `[0][n]` for glyphs."
    return Advice("scene:lookup", hint)


def of_file(error: OSError, place: Place | None) -> Advice:
    """Return advice for a file that isn't there, or a network that isn't."""
    if _is_in(error, "connect", "create_connection", "getaddrinfo", "urlopen", "do_open") or _is_url_error(
        error
    ):
        return Advice("scene:network", _NETWORK)
    name = error.filename if isinstance(error.filename, str) else None
    match = _NO_FILE.search(str(error))
    name = name or (match[1] if match else None)
    if (
        isinstance(error, FileNotFoundError)
        or match
        or _is_in(error, "get_file_path", "seek_full_path_from_defaults")
    ):
        if name is not None and name.startswith(("http://", "https://")):
            return Advice("scene:network", _NETWORK)
        if place and place.node and callee_of(place.node, place.frame) is manim.Code:
            hint = "`Code` reads a file. Give source code as `code_string='…'`."
            return Advice("scene:file", hint)
        return Advice("scene:file", _FILES)
    if isinstance(error, PermissionError) or error.errno in (1, 13, 30):
        return Advice("scene:file", "Scenes may write only into their current folder and below `/tmp`.")
    return Advice("scene:error")


def of_other(error: BaseException) -> Advice:
    """Return advice for an error without a type of its own here."""
    if isinstance(error, ZeroDivisionError):
        return Advice("scene:value", "Leave out the value for which the divisor is 0.")
    if isinstance(error, RecursionError):
        return Advice(
            "scene:error",
            "A function calls itself without an end: check the condition under which it returns.",
        )
    if isinstance(error, EOFError):
        return Advice("scene:unsupported", "A scene can't ask for input: replace `input()` with a value.")
    if isinstance(error, OverflowError):
        return Advice("scene:value", "A number is too large: check the function near the ends of its range.")
    if isinstance(error, NotImplementedError) and "chaining" in str(error):
        return Advice("scene:unsupported", "Play the two changes in two calls of `self.play`.")
    if isinstance(error, NotImplementedError) and _is_in(
        error, "__add__", "__radd__", "__iadd__", "__sub__", "__isub__"
    ):
        return Advice(
            "scene:error", "Mobjects can't be added: use `VGroup(a, b)`; to move one use `shift(vector)`."
        )
    return Advice("scene:error")


def _size(container: object) -> int | None:
    if isinstance(container, list | tuple | str | manim.Mobject):
        return len(container)
    return None


def _is_in(error: BaseException, *functions: str) -> bool:
    return any(frame.f_code.co_name in functions for frame, _ in traceback.walk_tb(error.__traceback__))


def _is_url_error(error: BaseException) -> bool:
    return any(kind.__name__ in ("URLError", "gaierror") for kind in type(error).__mro__)
