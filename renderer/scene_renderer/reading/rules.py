"""What Manim's classes and methods refuse besides arguments of other names."""

import ast
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import manim
from manim import Animation, ManimColor, Mobject, Scene, VGroup, VMobject
from manim.mobject.text.tex_mobject import SingleStringMathTex

from ..scene_error import SceneError
from . import files, own, representatives, tex_strings
from .installed import INSTALLED
from .pure import Unclear, literal
from .reading import Reading
from .values import UNKNOWN, Builder, Function, Method, Sequence, Value, instance, is_known, is_mobject

if TYPE_CHECKING:
    from .calls import Arguments

# What stands in place of methods that open windows.
_WINDOWS = str(Path(__file__).parents[1] / "job" / "hints.py")


def on_made(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check what an object is made of."""
    initializer = inspect.getattr_static(kind, "__init__", None)
    if issubclass(kind, Mobject) and kind.__module__.startswith("manim."):
        _check_colors(reading, initializer, arguments, is_chained=True)
    if isinstance(initializer, types.FunctionType):
        _check_callbacks(reading, initializer, arguments, is_method=True)
    if issubclass(kind, manim.AnimationGroup) and initializer in _OF_GROUPS:
        _check_animations(reading, arguments)
    if issubclass(kind, VGroup) and initializer is VGroup.__init__:
        _check_parts(reading, arguments.given, arguments.node)
    elif kind is manim.Group:
        _check_parts_of_group(reading, arguments)
    if issubclass(kind, Animation) and kind.__module__.startswith("manim."):
        representatives.check_made(reading, kind, arguments)
    elif issubclass(kind, Mobject) and kind.__module__.startswith("manim."):
        files.check(reading, kind, arguments)
        if not issubclass(kind, manim.ImageMobject | manim.SVGMobject) or issubclass(kind, manim.Text):
            representatives.check_made(reading, kind, arguments)
    if issubclass(kind, manim.Matrix | manim.MathTable | manim.BraceLabel) and not issubclass(
        kind, manim.BraceText
    ):
        tex_strings.check_labels(reading, arguments)
    if issubclass(kind, SingleStringMathTex) and kind.__module__.startswith("manim."):
        tex_strings.check(reading, kind, arguments)


def on_raise(reading: Reading, node: ast.Raise) -> None:
    """Report an error that the code raises whenever it is run."""
    if reading.conditional or node.exc is None:
        return
    thing = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    kind = reading.values.get(thing, UNKNOWN)
    if not kind.is_it or not isinstance(kind.thing, type) or not issubclass(kind.thing, BaseException):
        return
    if issubclass(kind.thing, SystemExit | KeyboardInterrupt):
        report_exit(reading, node)


def report_exit(reading: Reading, node: ast.stmt | ast.expr) -> None:
    """Report that the code ends the program."""
    reading.error(SceneError("The scene ended itself with sys.exit().", kind="scene:exit"), node)


def on_call(reading: Reading, function: Any, owner: Value | None, arguments: "Arguments") -> None:
    """Check a call of a function or method of Manim."""
    name = function.__name__
    if function is manim.always_redraw:
        _check_redrawn(reading, arguments)
    if owner is not None and isinstance(owner.thing, Scene):
        if function is Scene.play or function.__qualname__.endswith("Scene.play"):
            _check_play(reading, owner, arguments)
        elif function.__qualname__ in ("Scene.wait", "Scene.pause") or name == "wait":
            _check_duration(reading, owner, function, arguments)
        elif name == "add_sound":
            files.check_sound(reading, arguments)
        elif _never_returns(function):
            _check_window(reading, owner, function, arguments)
    elif owner is not None and isinstance(owner.thing, Mobject):
        if function is VGroup.add:
            _check_parts(reading, arguments.given, arguments.node)
        _check_colors(reading, function, arguments, is_chained=False)
        if "label" in name or "tex" in name:
            tex_strings.check_labels(reading, arguments)
        if name == "add_updater":
            _note_updater(reading, owner, arguments)
        representatives.check_method(reading, owner, function, arguments)
    files.check_network(reading, function, arguments)
    _check_callbacks(reading, function, arguments, is_method=owner is not None)


def _never_returns(function: Any) -> bool:
    """Whether it is one that `refuse_windows` has put in place."""
    return bool(function.__code__.co_filename == _WINDOWS)


def _check_window(reading: Reading, owner: Value, function: Any, arguments: "Arguments") -> None:
    try:
        function(owner.thing)
    except Exception as error:
        reading.error(error, arguments.node)


def _note_updater(reading: Reading, owner: Value, arguments: "Arguments") -> None:
    """Remember what an updater is called with."""
    value = arguments.given[0] if arguments.given else UNKNOWN
    if isinstance(value, Function) and isinstance(value.node, ast.Lambda):
        reading.parameters[value.node] = Value(owner.thing, is_loose=True)


def _check_play(reading: Reading, owner: Value, arguments: "Arguments") -> None:
    node = arguments.node
    whole = [
        value.parts if isinstance(value, Sequence) and not value.is_open else [value]
        for value in arguments.given
    ]
    if not any(whole) and not arguments.has_more:
        if not arguments.has_more_named:
            reading.error(ValueError("Called Scene.play with no animations"), node)
        return
    for value in _flat(arguments.given):
        said = _not_animated(value)
        if said is not None:
            reading.error(TypeError(said), node)
            return
    duration = arguments.named.get("run_time", UNKNOWN)
    if not _check_positive(reading, owner, "play", "run_time", duration, node):
        return
    if not _check_rate(reading, arguments, node):
        return
    if "run_time" in arguments.named or arguments.has_more or arguments.has_more_named:
        return
    _check_durations(reading, owner, node)


def _check_rate(reading: Reading, arguments: "Arguments", node: ast.Call) -> bool:
    """Check that the rate functions of a play and of the animations in it are functions."""
    given = [arguments.named.get("rate_func", UNKNOWN)]
    for part in node.args:
        if isinstance(part, ast.Call):
            keywords = (keyword.value for keyword in part.keywords if keyword.arg == "rate_func")
            given += [reading.values.get(value, UNKNOWN) for value in keywords]
    for value in given:
        if is_known(value) and value.kind in (int, float, str) and not callable(value.thing):
            reading.error(TypeError(f"'{value.kind.__name__}' object is not callable"), node)
            return False
    return True


_OF_GROUPS = [manim.AnimationGroup.__init__, manim.LaggedStart.__init__, manim.Succession.__init__]


def _check_animations(reading: Reading, arguments: "Arguments") -> None:
    """Check the parts of a group of animations."""
    for value in _flat(arguments.given):
        if _not_animated(value) is not None:
            shown = value.thing if value.is_it else type(value.thing).__name__
            text = f"Object {shown} cannot be converted to an animation"
            reading.error(TypeError(text), arguments.node)
            return


def _check_durations(reading: Reading, owner: Value, node: ast.Call) -> None:
    """Check the `run_time` of animations that are made in the call: the longest of them counts."""
    durations = []
    for argument in node.args:
        if not isinstance(argument, ast.Call):
            return
        made = reading.values.get(argument.func, UNKNOWN)
        given = [keyword.value for keyword in argument.keywords if keyword.arg == "run_time"]
        is_animation = made.is_it and isinstance(made.thing, type) and issubclass(made.thing, Animation)
        if len(given) != 1 or not is_animation or issubclass(made.thing, manim.AnimationGroup):
            return
        try:
            durations.append(literal(reading.values.get(given[0], UNKNOWN)))
        except Unclear:
            return
    if durations and all(isinstance(duration, int | float) and duration <= 0 for duration in durations):
        _report_duration(reading, owner, "play", "run_time", max(durations), node)


def _check_positive(
    reading: Reading, owner: Value, method: str, name: str, value: Value, node: ast.expr
) -> bool:
    try:
        duration = literal(value)
    except Unclear:
        return True
    if not isinstance(duration, int | float) or duration > 0:
        return True
    _report_duration(reading, owner, method, name, duration, node)
    return False


def _report_duration(
    reading: Reading, owner: Value, method: str, name: str, duration: float, node: ast.expr
) -> None:
    text = (
        f"{type(owner.thing).__name__}.{method}() has a {name} of {duration:g} <= 0 seconds which Manim "
        f"cannot render. The {name} must be a positive number."
    )
    reading.error(ValueError(text), node)


def _check_duration(reading: Reading, owner: Value, function: Any, arguments: "Arguments") -> None:
    value = arguments.given[0] if arguments.given else arguments.named.get("duration", UNKNOWN)
    if is_known(value) and not value.is_loose and value.kind is str:
        text = "'<=' not supported between instances of 'str' and 'int'"
        reading.error(TypeError(text), arguments.node)
        return
    name = function.__name__ if function.__name__ in ("wait", "pause") else "wait"
    _check_positive(reading, owner, name, "duration", value, arguments.node)


def _flat(values: Iterable[Value]) -> Iterator[Value]:
    for value in values:
        if isinstance(value, Sequence):
            yield from () if value.is_open else value.parts
        else:
            yield value


def _not_animated(value: Value) -> str | None:
    """Return what is said about a value that can't be played; None if it may be."""
    if not is_known(value) or isinstance(value, Builder):
        return None
    thing = value.thing
    if isinstance(value, Method) and value.owner is not None and isinstance(value.owner.thing, Mobject):
        return "Passing Mobject methods to Scene.play is no longer supported. Use Mobject.animate instead."
    if isinstance(value, Function | Method):
        return f"Unexpected argument {thing!r} passed to Scene.play()."
    if value.is_it and isinstance(thing, type):
        return f"Unexpected argument {thing} passed to Scene.play()."
    if is_mobject(value):
        return f"Unexpected argument {type(thing).__name__} passed to Scene.play()."
    if isinstance(value, Sequence) and value.is_open:
        return f"Unexpected argument {value.thing} passed to Scene.play()."
    if isinstance(value, Sequence) or (value.is_it and (thing is None or isinstance(thing, int | float))):
        shown = [type(part.thing).__name__ for part in value.parts] if isinstance(value, Sequence) else thing
        return f"Unexpected argument {shown} passed to Scene.play()."
    if not value.is_loose and value.kind in (float, int):
        return f"Unexpected argument {thing} passed to Scene.play()."
    return None


def _check_parts(reading: Reading, values: Iterable[Value], node: ast.expr) -> None:
    """Check the parts of a VGroup."""
    for index, value in enumerate(values):
        parts = value.parts if isinstance(value, Sequence) and not value.is_open else [value]
        for inner, part in enumerate(parts):
            if (kind := _not_of(part, VMobject)) is None:
                continue
            text = (
                f"Only values of type VMobject can be added as submobjects of VGroup, but the value "
                f"{_shown(part, kind)} (at index {inner} of parameter {index}) is of type {kind}."
            )
            if isinstance(part.thing, Mobject):
                text += " You can try adding this value into a Group instead."
            reading.error(TypeError(text), node)
            return


def _shown(value: Value, kind: str) -> str:
    """Return a value as Manim shows it; of a text, which it goes through, the first character."""
    if not value.is_it or isinstance(value.thing, type):
        return kind
    return repr(value.thing[:1] if isinstance(value.thing, str) else value.thing)


def _not_of(value: Value, needed: type) -> str | None:
    """Return the name of a value's class if it is certainly not an instance of `needed`."""
    if not is_known(value):
        return None
    if isinstance(value, Builder):
        return "_AnimationBuilder"
    thing = value.thing
    if isinstance(value, Function | Method):
        return "method" if isinstance(value, Method) and value.owner is not None else "function"
    if isinstance(thing, needed):
        return None
    if value.is_it and isinstance(thing, type):
        return "type" if type(thing) is type else type(thing).__name__
    if value.is_loose and (issubclass(needed, value.kind) or isinstance(thing, Mobject)):
        return None
    if isinstance(thing, Mobject | Animation | Scene) or value.kind in (float, int, str, type(None)):
        return value.kind.__name__
    return None


def _check_parts_of_group(reading: Reading, arguments: "Arguments") -> None:
    for value in arguments.given:
        kind = _not_of(value, Mobject)
        if kind is not None:
            text = (
                f"Only values of type Mobject can be added as submobjects of Group, but the value {kind} "
                f"(at index 0) is of type {kind}."
            )
            reading.error(TypeError(text), arguments.node)
            return


@cache
def annotations_of(function: types.FunctionType) -> dict[str, str]:
    """Return the annotations of the parameters of a function, in their order."""
    try:
        parameters = inspect.signature(function, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {
        parameter.name: parameter.annotation if isinstance(parameter.annotation, str) else ""
        for parameter in parameters
    }


def _given(function: Any, arguments: "Arguments", *, is_method: bool) -> Iterator[tuple[str, str, Value]]:
    """Yield the names and annotations of parameters with the values that they get."""
    if not isinstance(function, types.FunctionType):
        return
    annotations = annotations_of(function)
    positional = [*annotations][1 if is_method else 0 : function.__code__.co_argcount]
    if not arguments.has_more:
        for name, value in zip(positional, arguments.given, strict=False):
            yield name, annotations[name], value
    for name, value in arguments.named.items():
        yield name, annotations.get(name, ""), value


def _check_colors(reading: Reading, function: Any, arguments: "Arguments", *, is_chained: bool) -> None:
    """Check the names of colours."""
    for name, annotation, value in _given(function, arguments, is_method=True):
        is_color = annotation.startswith("ParsableManimColor") and "|" not in annotation.replace("| None", "")
        if not is_color and not (is_chained and name in ("color", "fill_color", "stroke_color")):
            continue
        if not value.is_it or not isinstance(value.thing, str):
            continue
        try:
            ManimColor(value.thing)
        except ValueError as error:
            reading.error(error, arguments.node)
        except Exception:
            continue


def _check_redrawn(reading: Reading, arguments: "Arguments") -> None:
    value = arguments.given[0] if arguments.given else UNKNOWN
    if is_mobject(value) and not value.is_loose and not callable(value.thing):
        reading.error(TypeError(f"'{value.kind.__name__}' object is not callable"), arguments.node)


def _check_callbacks(reading: Reading, function: Any, arguments: "Arguments", *, is_method: bool) -> None:
    """Check how many parameters the functions have that are called at once."""
    counts = INSTALLED.called_with(function) if isinstance(function, types.FunctionType) else {}
    for name, _, value in _given(function, arguments, is_method=is_method):
        count = counts.get(name)
        if count is None:
            continue
        called = _own_function(reading, value)
        if called is None:
            continue
        try:
            called(*[None] * count)
        except TypeError as error:
            reading.error(error, arguments.node)
            return


def _own_function(reading: Reading, value: Value) -> Callable[..., Any] | None:
    if isinstance(value, Function) and isinstance(value.thing, types.FunctionType):
        return value.thing
    return None


__all__ = ["instance", "on_call", "on_made", "own"]
