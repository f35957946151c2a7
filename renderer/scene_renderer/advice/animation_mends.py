"""Replacements where something is played, added or animated that is none of what is taken there."""

import ast
import re
from collections.abc import Iterator

import manim

from .calls import arguments, around, between, is_statement, method_of, written
from .edits import before, instead
from .mend import Mend, Rule
from .phrases import OF_TEXT
from .place import Place, callee_of, value_of

_AS_TEXT = re.compile(
    r"'str' object has no attribute|is of type str\b|only works on Mobjects|only works for VMobjects"
)
_TEXTS = (manim.Text, manim.MarkupText, manim.Paragraph, manim.SingleStringMathTex, manim.DecimalNumber)
_NOT_PLAYED = re.compile(r"passed to Scene\.play|cannot be converted to an animation|to Scene.play")
_SEVERAL = re.compile(
    r"only works for VMobjects|only works on Mobjects|object is not callable|unsupported operand type"
    r"|mobjects to be a Mobjects"
)
# Methods that are animations.
_ANIMATIONS = {
    "fade_in": "FadeIn",
    "fadein": "FadeIn",
    "appear": "FadeIn",
    "fade_out": "FadeOut",
    "fadeout": "FadeOut",
    "disappear": "FadeOut",
    "create": "Create",
    "show_creation": "Create",
    "uncreate": "Uncreate",
    "write": "Write",
    "unwrite": "Unwrite",
    "indicate": "Indicate",
    "highlight": "Indicate",
    "circumscribe": "Circumscribe",
    "wiggle": "Wiggle",
    "grow": "GrowFromCenter",
    "grow_from_center": "GrowFromCenter",
    "transform": "Transform",
    "transform_into": "Transform",
    "transform_to": "Transform",
    "draw": "Create",
}
# Animations that are changes of a mobject.
_CHANGES = {
    "Scale": "scale",
    "ScaleAnimation": "scale",
    "Shift": "shift",
    "Move": "move_to",
    "MoveTo": "move_to",
    "SetColor": "set_color",
    "ChangeColor": "set_color",
    "SetFill": "set_fill",
    "SetOpacity": "set_opacity",
}


def _of_play(error: BaseException, place: Place, code: str) -> Mend | None:
    node, message = place.node, str(error)
    if not isinstance(node, ast.Call):
        return None
    if method_of(node) == "play" and not node.args and "no animations" in message:
        return _pause(node, code)
    if not _NOT_PLAYED.search(message):
        return None
    for argument in node.args:
        if (found := _called_inside(node, argument, place, code)) is not None:
            return found
    if method_of(node) != "play":
        return None
    # What is changed where it is played is animated instead.
    plain = [
        one
        for one in node.args
        if isinstance(one, ast.Name | ast.Attribute | ast.Subscript) or _is_made(one, place)
    ]
    return next((found for one in plain if (found := _shown(one, place, code)) is not None), None)


def _pause(node: ast.Call, code: str) -> Mend:
    times = [written(keyword.value, code) for keyword in node.keywords if keyword.arg == "run_time"]
    owner = written(node.func.value, code) if isinstance(node.func, ast.Attribute) else "self"
    fix = instead(node, f"{owner}.wait({', '.join(times)})", code)
    return Mend(fix, "Give `self.play` at least one animation, or use `self.wait()`.")


def _called_inside(node: ast.Call, argument: ast.expr, place: Place, code: str) -> Mend | None:
    """Advise on a call of the scene among the arguments of `play`."""
    method = method_of(argument)
    if not isinstance(argument, ast.Call) or not isinstance(argument.func, ast.Attribute):
        return None
    is_scene = isinstance(argument.func.value, ast.Name) and argument.func.value.id == "self"
    if not is_scene or method not in ("wait", "add", "remove", "play"):
        return None
    if len(node.args) == 1 and not node.keywords and method_of(node) == "play" and is_statement(node, code):
        return Mend(instead(node, written(argument, code), code), f"Call `self.{method}` on its own.")
    if method == "wait":
        text = f"Wait({', '.join(arguments(argument, code))})"
        return Mend(instead(argument, text, code), f"Within an animation use `{text}`.")
    return None


def _is_made(node: ast.expr, place: Place) -> bool:
    made = callee_of(node, place.frame)
    return isinstance(made, type) and issubclass(made, manim.Mobject)


def _shown(argument: ast.expr, place: Place, code: str) -> Mend | None:
    """Return the animation that shows a mobject, or those of a list."""
    value = value_of(argument, place.frame)
    made = callee_of(argument, place.frame)
    kind = made if isinstance(made, type) else type(value)
    if isinstance(value, list | tuple) and value and all(isinstance(one, manim.Mobject) for one in value):
        name = _animation_of(type(value[0]))
        text = f"*[{name}(mobject) for mobject in {written(argument, code)}]"
        return Mend(instead(argument, text, code), f"Make an animation of each: `{text}`.")
    if isinstance(value, ast.AST) or not issubclass(kind, manim.Mobject):
        return None
    text = f"{_animation_of(kind)}({written(argument, code)})"
    return Mend(instead(argument, text, code), f"A mobject is not an animation: write `{text}`.")


def _animation_of(kind: type) -> str:
    if issubclass(kind, _TEXTS):
        return "Write"
    return "Create" if issubclass(kind, manim.VMobject) else "FadeIn"


def _as_text(error: BaseException, place: Place, code: str) -> Mend | None:
    """Make a mobject of the text in a call that takes mobjects."""
    if not isinstance(place.node, ast.Call) or not _AS_TEXT.search(str(error)):
        return None
    found = [*_texts(place.node)]
    if not found:
        return _list_as_texts(place.node, code)
    if len(found) != 1:
        return None
    text = f"Text({written(found[0], code)})"
    return Mend(instead(found[0], text, code))


def _list_as_texts(node: ast.Call, code: str) -> Mend | None:
    """Make mobjects of the texts in a list, such as the labels of a table."""
    for keyword in node.keywords:
        parts = keyword.value.elts if isinstance(keyword.value, ast.List | ast.Tuple) else []
        if parts and all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in parts):
            text = f"[Text(one) for one in {written(keyword.value, code)}]"
            return Mend(instead(keyword.value, text, code), f"Make mobjects of the texts: `{text}`.")
    return None


def _texts(node: ast.Call) -> Iterator[ast.expr]:
    if getattr(node.func, "id", None) in OF_TEXT:
        return
    for given in node.args:
        is_text = isinstance(given, ast.Constant) and isinstance(given.value, str)
        if is_text or isinstance(given, ast.JoinedStr):
            yield given


def _several(error: BaseException, place: Place, code: str) -> Mend | None:
    """Put the mobjects of an animation of one into a group."""
    calls = ast.walk(place.node) if place.node is not None and _SEVERAL.search(str(error)) else ()
    found = (_grouped(one, place, code) for one in calls if isinstance(one, ast.Call))
    return next((one for one in found if one is not None), None)


def _grouped(node: ast.Call, place: Place, code: str) -> Mend | None:
    called = callee_of(node, place.frame)
    is_animation = isinstance(called, type) and issubclass(called, manim.Animation)
    if not node.args or not (is_animation or called is manim.SurroundingRectangle):
        return None
    first = node.args[0]
    hint = "The first argument is a mobject. For several mobjects use `VGroup(…)`."
    value = value_of(first, place.frame)
    if isinstance(first, ast.List | ast.Tuple | ast.ListComp) or isinstance(value, list | tuple):
        parts = f"*{written(first, code)}"
        if isinstance(first, ast.List | ast.Tuple) and written(first, code)[:1] in "[(":
            parts = written(first, code)[1:-1]
        return Mend(instead(first, f"VGroup({parts})", code), hint)
    mobjects = [one for one in node.args if _is_mobject(one, place)]
    is_of_two = isinstance(called, type) and issubclass(called, manim.Transform)
    if len(mobjects) < 2 or len(mobjects) != len(node.args) or is_of_two:
        return None
    text = f"VGroup({', '.join(written(one, code) for one in mobjects)})"
    return Mend(between(mobjects[0], mobjects[-1], text, code), hint)


def _is_mobject(node: ast.expr, place: Place) -> bool:
    return isinstance(value_of(node, place.frame), manim.Mobject) or _is_made(node, place)


def _direction(error: BaseException, place: Place, code: str) -> Mend | None:
    """Name the direction of a fade."""
    called = callee_of(place.node, place.frame)
    node = place.node
    if (
        called not in (manim.FadeIn, manim.FadeOut)
        or not isinstance(node, ast.Call)
        or "ndarray" not in str(error)
    ):
        return None
    last = node.args[-1]
    if len(node.args) < 2 or any(keyword.arg == "shift" for keyword in node.keywords):
        return None
    return Mend(before(last, "shift=", code), "Name the direction: `FadeIn(mobject, shift=UP)`.")


def _invoked(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write a change that is called within `ApplyMethod` with `animate`."""
    node = place.node
    if (
        "accidentally invoked the method" not in str(error)
        or not isinstance(node, ast.Call)
        or len(node.args) != 1
    ):
        return None
    given = node.args[0]
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute):
        return None
    owner = given.func.value
    is_animated = isinstance(owner, ast.Attribute) and owner.attr == "animate"
    timing = ", ".join(arguments(ast.copy_location(ast.Call(node.func, [], node.keywords), node), code))
    animate = f"animate({timing})" if timing else "animate"
    start = written(owner.value if isinstance(owner, ast.Attribute) and is_animated else owner, code)
    text = f"{start}.{animate}.{given.func.attr}({', '.join(arguments(given, code))})"
    return Mend(instead(node, text, code), f"Write `{text}`.")


def _method_of_animation(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write `FadeIn(mobject)` for `mobject.fade_in()`, and for `scene.fade_in(mobject)`."""
    node = place.node if isinstance(place.node, ast.Call) else _call_of(place.node, code)
    name = method_of(node)
    if (
        not isinstance(error, AttributeError | TypeError)
        or not isinstance(node, ast.Call)
        or name not in _ANIMATIONS
    ):
        return None
    if not isinstance(node.func, ast.Attribute) or f"'{name}'" not in str(error):
        return None
    owner = value_of(node.func.value, place.frame)
    given = arguments(node, code)
    if isinstance(owner, manim.Scene):
        if not given or not is_statement(node, code):
            return None
        text = f"{written(node.func.value, code)}.play({_ANIMATIONS[name]}({', '.join(given)}))"
        return Mend(instead(node, text, code), f"Play it: `{text}`.")
    if not isinstance(owner, manim.Mobject):
        return None
    text = f"{_ANIMATIONS[name]}({', '.join([written(node.func.value, code), *given])})"
    if is_statement(node, code):
        text = f"self.play({text})"
    return Mend(instead(node, text, code), f"Write `{text}`.")


def _call_of(node: ast.expr | None, code: str) -> ast.Call | None:
    outer = next(iter(around(node, code)), None) if isinstance(node, ast.Attribute) else None
    is_called = isinstance(outer, ast.Call) and outer.func.end_col_offset == getattr(
        node, "end_col_offset", None
    )
    return outer if isinstance(outer, ast.Call) and is_called else None


def _change(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write `mobject.animate.scale(2)` for `Scale(mobject, 2)`."""
    name = error.name if isinstance(error, NameError) else None
    outer = next(iter(around(place.node, code)), None) if isinstance(place.node, ast.Name) else None
    if name not in _CHANGES or not isinstance(outer, ast.Call) or len(outer.args) < 2:
        return None
    if not isinstance(outer.func, ast.Name) or outer.func.id != name:
        return None
    timing = ", ".join(written(keyword, code) for keyword in outer.keywords)
    animate = f"animate({timing})" if timing else "animate"
    given = ", ".join(written(one, code) for one in outer.args[1:])
    text = f"{written(outer.args[0], code)}.{animate}.{_CHANGES[name]}({given})"
    return Mend(instead(outer, text, code), f"Write `{text}`.")


def _redrawn(error: BaseException, place: Place, code: str) -> Mend | None:
    """Put `lambda:` before what is drawn again."""
    node = place.node
    if callee_of(node, place.frame) is not manim.always_redraw or "not callable" not in str(error):
        return None
    if not isinstance(node, ast.Call) or len(node.args) != 1 or not isinstance(node.args[0], ast.Call):
        return None
    return Mend(before(node.args[0], "lambda: ", code), "Give a function: `always_redraw(lambda: …)`.")


def _instantly(error: BaseException, place: Place, code: str) -> Mend | None:
    """Give what takes no time the time of one frame, and leave out waits that take none."""
    node, message = place.node, str(error)
    if not isinstance(error, ValueError) or not isinstance(node, ast.Call):
        return None
    if method_of(node) == "wait" and "wait()" in message and is_statement(node, code):
        given = node.args[0] if node.args else None
        is_zero = isinstance(given, ast.Constant) and given.value == 0 and len(node.args) == 1
        return Mend(instead(node, "pass", code)) if is_zero else None
    if method_of(node) != "play" or "run_time" not in message:
        return None
    found = [
        keyword
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "run_time" and isinstance(keyword.value, ast.Constant) and keyword.value.value == 0
    ]
    if len(found) != 1:
        return None
    fix = instead(found[0].value, "1 / config.frame_rate", code)
    return Mend(fix, "`run_time` must be greater than 0: the shortest is that of a frame.")


RULES: tuple[Rule, ...] = (
    _of_play,
    _as_text,
    _several,
    _direction,
    _invoked,
    _method_of_animation,
    _change,
    _redrawn,
    _instantly,
)
