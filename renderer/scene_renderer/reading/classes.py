"""Whether the class of a scene is there and can be rendered."""

import ast
import types
import unicodedata

from manim import Scene

from ..advice import scenes
from ..advice.edits import with_base, with_self
from ..advice.place import Span, line_of, locate
from ..scene_error import SceneError, finding
from . import own
from .reading import Reading
from .values import Function, is_known

_NO_SCENE = "Define a class that is derived from `Scene`, with a method `construct`."


def check(reading: Reading, class_name: str | None) -> None:
    """Check the scene that is asked for, or else all of them."""
    module = _module_of(reading)
    if module is None:
        return
    if class_name is None:
        found = [kind for kind in reading.classes if issubclass(kind, Scene)]
        for kind in found:
            _check_call(reading, module, kind)
        if not found and not reading.report.found and _are_all_known(reading):
            reading.report.add(finding("scene:class", "The code defines no scene.", _NO_SCENE))
        return
    name = unicodedata.normalize("NFKC", class_name)
    value = reading.scope.seen.get(name)
    if value is not None and not is_known(value):
        return
    try:
        _check_call(reading, module, scenes.find(module, name))
    except SceneError as error:
        _report(reading, error, _line_of(reading, error, name))


def _are_all_known(reading: Reading) -> bool:
    """Whether the code makes no other classes."""
    known = [*reading.classes.values()]
    for node in ast.walk(reading.tree):
        if isinstance(node, ast.ClassDef) and node not in known:
            return False
        # A class that is made by a call, or by a decorator.
        if isinstance(node, ast.Name) and node.id in ("type", "new_class"):
            return False
    return not any(node.decorator_list for node in known)


def _module_of(reading: Reading) -> types.ModuleType | None:
    """Return a module that has the classes of the code; None if it may have others."""
    if reading.is_wild:
        return None
    module = types.ModuleType(own.MODULE)
    for name, value in reading.scope.seen.items():
        if is_known(value) and (value.is_it or isinstance(value, Function)):
            vars(module)[name] = value.thing
        elif name in reading.scope.bound and reading.scope.bound[name] and not is_known(value):
            vars(module)[name] = None
    return module


def _line_of(reading: Reading, error: SceneError, name: str) -> int | None:
    """Return the line of what was meant."""
    names = [name, *error.candidates]
    for meant in names:
        for node in ast.walk(reading.tree):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == meant:
                return node.lineno
    return None


def _check_call(reading: Reading, module: types.ModuleType, kind: type) -> None:
    method = scenes.uncallable(kind)
    if method is None or method is kind or not isinstance(method, types.FunctionType):
        return
    if method not in reading.functions:
        return
    try:
        own.mimic(method)(None)
    except TypeError as error:
        node = reading.functions[method].node
        others = [
            name
            for name, other in vars(module).items()
            if isinstance(other, type) and other is not kind and other in reading.classes
            if issubclass(other, Scene)
            if scenes.uncallable(other) is None
        ]
        line = None if node is None else node.lineno
        source = (line_of(reading.report.code, line) or "") if line is not None else ""
        _report(reading, scenes.call_refused(error, others, line, source, is_class=False), line)


def _report(reading: Reading, error: SceneError, line: int | None) -> None:
    found = finding("scene:class", str(error).partition("\n")[0], error.hint, error.candidates)
    if line is not None:
        locate(found, Span(line), reading.report.code)
        found["fix"] = with_self(line, reading.report.code) or with_base(line, reading.report.code)
    reading.report.add(found)
