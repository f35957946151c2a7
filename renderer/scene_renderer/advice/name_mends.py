"""Replacements of names, attributes and calls of methods that don't exist."""

import ast
import re

import manim

from . import renamed
from .calls import around, method_of, written
from .edits import before, fix, instead, parsed
from .mend import Mend, Rule
from .names import missing_of
from .place import Place, value_of, whole_line

_PLOTS = ("plot", "get_graph", "plot_polar_graph", "FunctionGraph", "plot_derivative_graph", "plot_surface")
_MISSING = re.compile(r"has no attribute '([^']+)'")
_NOT_IMPORTED = re.compile(r"cannot import name '([^']+)' from 'manim'")
# Calls of methods that are calls of others. `{0}`: an argument; `{all}`: all of them; `{owner}`: what the
# method is called on.
_CALLS: dict[str, dict[str, str]] = {
    "Mobject": {
        "get_top_left": "{owner}.get_corner(UL)",
        "get_top_right": "{owner}.get_corner(UR)",
        "get_bottom_left": "{owner}.get_corner(DL)",
        "get_bottom_right": "{owner}.get_corner(DR)",
        "below": "{owner}.next_to({0}, DOWN)",
        "above": "{owner}.next_to({0}, UP)",
        "left_of": "{owner}.next_to({0}, LEFT)",
        "right_of": "{owner}.next_to({0}, RIGHT)",
        "align_left": "{owner}.align_to({0}, LEFT)",
        "align_right": "{owner}.align_to({0}, RIGHT)",
        "arrange_horizontally": "{owner}.arrange(RIGHT)",
        "arrange_vertically": "{owner}.arrange(DOWN)",
        "hide": "{owner}.set_opacity(0)",
        "extend": "{owner}.add(*{0})",
        "length": "len({owner})",
        "scale_about_point": "{owner}.scale({0}, about_point={1})",
        "rotate_about_point": "{owner}.rotate({0}, about_point={1})",
        "bring_to_front": "self.bring_to_front({owner})",
        "bring_to_back": "self.bring_to_back({owner})",
        "to_front": "self.bring_to_front({owner})",
    },
    "VMobject": {
        "set_fill_color": "{owner}.set_fill({0})",
        "set_fill_opacity": "{owner}.set_fill(opacity={0})",
        "set_stroke_color": "{owner}.set_stroke({0})",
        "set_stroke_opacity": "{owner}.set_stroke(opacity={0})",
        "set_font_size": "{owner}.set(font_size={0})",
    },
    "Brace": {"get_label": "{owner}.get_text({0})"},
    "ValueTracker": {"animate_to": "{owner}.animate.set_value({0})", "set": "{owner}.set_value({0})"},
    "CoordinateSystem": {
        "get_v_line_to_graph": "{owner}.get_vertical_line({owner}.i2gp({all}))",
        "get_vertical_line_to_graph": "{owner}.get_vertical_line({owner}.i2gp({all}))",
        "get_vertical_line": "{owner}.get_vertical_line({owner}.i2gp({0}, {1}))",
        "plot_line_graph": "{owner}.plot_line_graph(*zip(*{0}))",
        "get_area_between": "{owner}.get_area({0}, bounded_graph={1})",
        "add_axis_labels": "{owner}.add({owner}.get_axis_labels({all}))",
        "add_labels": "{owner}.add({owner}.get_axis_labels({all}))",
    },
    "GenericGraph": {
        "add_edge": "{owner}.add_edges(({0}, {1}))",
        "remove_edge": "{owner}.remove_edges(({0}, {1}))",
        "add_vertex": "{owner}.add_vertices({0})",
        "remove_vertex": "{owner}.remove_vertices({0})",
    },
    "Scene": {"set_background_color": "{owner}.camera.background_color = {0}"},
    "Camera": {"set_background_color": "{owner}.background_color = {0}"},
    "list": {"length": "len({owner})", "size": "len({owner})"},
    "str": {"length": "len({owner})"},
    "dict": {"length": "len({owner})"},
}
# Attributes that are expressions.
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "list": {"length": "len({owner})", "size": "len({owner})"},
    "str": {"length": "len({owner})"},
    "Mobject": {
        "center_point": "{owner}.get_center()",
        "left_edge": "{owner}.get_left()",
        "right_edge": "{owner}.get_right()",
        "top_edge": "{owner}.get_top()",
        "bottom_edge": "{owner}.get_bottom()",
    },
    "CoordinateSystem": {
        f"{axis}_{end}": f"{{owner}}.{axis}_range[{index}]"
        for axis in "xy"
        for index, end in enumerate(("min", "max"))
    },
    "Scene": {"camera_frame": "{owner}.camera.frame", "frame": "{owner}.camera.frame"},
    "MovingCamera": {"animate": "{owner}.frame.animate"},
    "Camera": {"animate": "{owner}.frame.animate"},
}


def _call(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the call of a method as that of another."""
    node = place.node if isinstance(place.node, ast.Call) else _called(place.node, code)
    name = method_of(node)
    message = str(error)
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or name is None
        or node.keywords
    ):
        return None
    missing = _MISSING.search(message) if isinstance(error, AttributeError) else None
    # Manim's message is about what follows `get_`.
    is_missing = missing is not None and name in (missing[1], f"get_{missing[1]}")
    owner = value_of(node.func.value, place.frame)
    if isinstance(error, AttributeError):
        owner = missing_of(error)[0]
    is_made = isinstance(error, TypeError) and re.search(
        r"[gs]etter\(\)|takes \d+ positional|unexpected|missing", message
    )
    text = _template(_CALLS, owner, name) if is_missing or is_made else None
    if text is None or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    given = [written(one, code) for one in node.args]
    needed = len(set(re.findall(r"\{\d\}", text)))
    if "{all}" not in text and needed != len(given):
        return None
    new = text.format(*given, owner=written(node.func.value, code), all=", ".join(given))
    if " = " in new and not isinstance(next(iter(around(node, code)), None), ast.Expr):
        return None
    return Mend(instead(node, new, code), f"Write `{new}`.")


def _called(node: ast.expr | None, code: str) -> ast.Call | None:
    outer = next(iter(around(node, code)), None) if isinstance(node, ast.Attribute) else None
    return outer if isinstance(outer, ast.Call) and ast.dump(outer.func) == ast.dump(node or outer) else None


def _template(table: dict[str, dict[str, str]], owner: object, name: str) -> str | None:
    bases = [base.__name__ for base in type(owner).__mro__]
    return next((table[base][name] for base in bases if name in table.get(base, {})), None)


def _attribute(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write an attribute as an expression."""
    node = place.node.func if isinstance(place.node, ast.Call) else place.node
    if not isinstance(error, AttributeError) or not isinstance(node, ast.Attribute):
        return None
    text = _template(_ATTRIBUTES, missing_of(error)[0], node.attr)
    if text is None or f"'{node.attr}'" not in str(error):
        return None
    new = text.format(owner=written(node.value, code))
    return Mend(instead(node, new, code), f"Write `{new}`.")


def _plotted(error: BaseException, place: Place, code: str) -> Mend | None:
    """Make a function of the expression that is plotted."""
    if not isinstance(error, NameError) or error.name not in ("x", "t", "u", "theta"):
        return None
    inner: ast.AST | None = place.node
    for outer in around(place.node, code) if place.node is not None else ():
        if isinstance(outer, ast.Lambda | ast.stmt):
            return None
        name = (
            getattr(outer.func, "attr", getattr(outer.func, "id", "")) if isinstance(outer, ast.Call) else ""
        )
        if isinstance(outer, ast.Call) and name in _PLOTS and outer.args and isinstance(inner, ast.expr):
            is_first = ast.dump(outer.args[0]) == ast.dump(inner)
            text = f"lambda {error.name}: "
            return (
                Mend(before(outer.args[0], text, code), f"Plot a function: `{text}…`.") if is_first else None
            )
        inner = outer
    return None


def _own_config(error: BaseException, place: Place, code: str) -> Mend | None:
    """Read a value of the dictionary that earlier versions made attributes of."""
    node = place.node.func if isinstance(place.node, ast.Call) else place.node
    if not isinstance(error, AttributeError) or not isinstance(node, ast.Attribute):
        return None
    if not isinstance(node.value, ast.Name) or node.value.id != "self":
        return None
    classes = [one for one in around(node, code) if isinstance(one, ast.ClassDef)]
    for part in classes[0].body if classes else ():
        is_config = isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "CONFIG"
        keys = part.value.keys if isinstance(part, ast.Assign) and isinstance(part.value, ast.Dict) else []
        if is_config and any(isinstance(key, ast.Constant) and key.value == node.attr for key in keys):
            text = f'self.CONFIG["{node.attr}"]'
            hint = f"Manim no longer reads CONFIG dictionaries: write `{text}`."
            return Mend(instead(node, text, code), hint)
    return None


def _import(error: BaseException, place: Place, code: str) -> Mend | None:
    """Import from Manim what was imported from elsewhere, and leave out what is not used."""
    if not isinstance(error, ImportError):
        return None
    line = whole_line(code, place.span.line) or ""
    number = place.span.line
    if match := _NOT_IMPORTED.search(str(error)):
        new = renamed.NAMES.get(match[1])
        found = [*re.finditer(rf"(?<!\.)\b{match[1]}\b", line)]
        if new is None or new.name not in vars(manim) or len(found) != 1:
            return None
        return Mend(fix(number, found[0].start() + 1, found[0].end() + 1, new.name or ""))
    module = error.name or ""
    is_manim = module.split(".")[0] in (
        "manim",
        "manimlib",
        "manimgl",
        "manimce",
        "manim_imports_ext",
        "manimlib_ce",
    )
    if is_manim and (match := re.match(r"\s*from\s+([\w.]+)\s+import\b", line)):
        return Mend(fix(number, match.start(1) + 1, match.end(1) + 1, "manim"), "Import it from `manim`.")
    return _unused(number, line, code)


def _unused(number: int, line: str, code: str) -> Mend | None:
    tree = parsed(code)
    nodes = [*ast.walk(tree)] if tree else []
    imports = [one for one in nodes if isinstance(one, ast.Import | ast.ImportFrom) and one.lineno == number]
    if len(imports) != 1 or ast.unparse(imports[0]) != line.strip():
        return None
    names = {(alias.asname or alias.name).split(".")[0] for alias in imports[0].names}
    used = {one.id for one in nodes if isinstance(one, ast.Name)}
    if names & {*used, "*"}:
        return None
    return Mend(fix(number, 1, 1, "# "), "It is not used: leave it out.")


def _base(error: BaseException, place: Place, code: str) -> Mend | None:
    """Write the class `Scene` for the module of this name."""
    line = whole_line(code, place.span.line) or ""
    match = re.match(r"class\s+\w+\s*\((scene)\)", line)
    if match is None or "module() takes" not in str(error):
        return None
    return Mend(fix(place.span.line, match.start(1) + 1, match.end(1) + 1, "Scene"))


def _key(error: BaseException, place: Place, code: str) -> Mend | None:
    """Put the key of a dictionary between quotes, if no such name is defined."""
    node = place.node
    outer = next(iter(around(node, code)), None) if isinstance(node, ast.Name) else None
    if not isinstance(error, NameError) or not isinstance(node, ast.Name) or not isinstance(outer, ast.Dict):
        return None
    if not any(key is not None and ast.dump(key) == ast.dump(node) for key in outer.keys):
        return None
    return Mend(instead(node, f'"{node.id}"', code), f'Put the key between quotes: `"{node.id}"`.')


RULES: tuple[Rule, ...] = (_call, _attribute, _plotted, _own_config, _import, _base, _key)
