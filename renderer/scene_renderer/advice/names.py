"""Advice for names, modules and attributes that don't exist."""

import ast
import builtins
import dataclasses
import re
import sys
import traceback
from collections.abc import Iterable
from types import ModuleType

import manim
import numpy as np

from ..messages import Fix
from . import renamed
from .advice import Advice, did_you_mean, instead, nearest
from .call_edits import shifted
from .edits import instead as instead_of
from .phrases import of_text
from .place import Place, last_name

_IMPORTS = {
    "np": "import numpy as np",
    "numpy": "import numpy",
    "nx": "import networkx as nx",
    "sp": "import sympy as sp",
    **{
        name: f"import {name}"
        for name in (
            "math",
            "random",
            "itertools",
            "os",
            "sys",
            "time",
            "json",
            "re",
            "colorsys",
            "functools",
        )
    },
    "Path": "from pathlib import Path",
    "copy": "import copy",
    "statistics": "import statistics",
    "string": "import string",
    **{
        name: f"from {module} import {name}"
        for module, names in {
            "math": ("sqrt", "factorial", "comb", "gcd", "floor", "ceil", "radians", "hypot"),
            "copy": ("deepcopy",),
            "random": ("randint", "choice", "uniform", "shuffle", "sample", "randrange", "gauss"),
            "itertools": (
                "product",
                "permutations",
                "combinations",
                "chain",
                "cycle",
                "accumulate",
                "pairwise",
            ),
            "functools": ("partial", "reduce", "lru_cache"),
            "collections": ("defaultdict", "Counter", "deque", "OrderedDict"),
            "typing": ("List", "Dict", "Tuple", "Optional", "Callable", "Any", "Iterable"),
            "dataclasses": ("dataclass",),
            "enum": ("Enum",),
        }.items()
        for name in names
    },
}
# Functions that take numbers and arrays, such as those of graphs.
_OF_NUMPY = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "exp", "log", "linspace", "arange")
_MANIMGL = ("manimlib", "manimgl", "manim_imports_ext", "big_ol_pile_of_manim_imports")
_CANNOT_IMPORT = re.compile(r"cannot import name '([^']+)' from '([^']+)'")
_REMOVED = re.compile(r"`np\.(\w+)` was removed")
_NO_ATTRIBUTE = re.compile(r"has no attribute '([^']+)'")
_CONFIG = "Manim no longer reads CONFIG dictionaries: set the attribute in `__init__` or in the class."
_CHANGES = ("change", "update", "modify", "make")  # what other libraries call `set`
_GRAPHS = (manim.Graph, manim.DiGraph)
_PACKAGES = "Scenes can import Manim, NumPy, SciPy, SymPy, Pillow, NetworkX, Typst and the standard library."


def of_name(error: NameError, place: Place | None, code: str) -> Advice:
    """Return advice for a name that isn't defined."""
    name = error.name or ""
    if isinstance(error, UnboundLocalError):
        name = name or next(iter(re.findall(r"variable '([^']+)'", str(error))), "")
        hint = (
            f"`{name}` is assigned in this function, which makes it a variable of its own: give it a value "
            f"before, or write `nonlocal {name}` first to change that of the function around it."
        )
        return Advice("scene:name", hint)
    if (new := renamed.NAMES.get(name)) is not None:
        fix = shifted(name, place, code)
        return Advice("scene:name", instead(name, new), (new.name,) if new.name else (), fix=fix)
    if name in vars(manim) and not name.startswith("_"):
        return Advice("scene:name", f"Import it: `from manim import {name}`, or `from manim import *`.")
    if name in _IMPORTS:
        return Advice("scene:name", f"Import it: `{_IMPORTS[name]}`.")
    if name in ("plt", "matplotlib"):
        return Advice("scene:name", "Matplotlib is not available in scenes: use `Axes(…).plot(…)`.")
    if name in _OF_NUMPY:
        return Advice(
            "scene:name",
            f"Use `np.{name}`.",
            (f"np.{name}",),
            fix=_instead_of(name, f"np.{name}", place, code),
        )
    if name in ("this", "Self") and place and place.frame and "self" in place.frame.f_locals:
        return Advice("scene:name", did_you_mean(["self"]), ("self",))
    if (found := namespaced(name)) is not None:
        return Advice("scene:name", f"Use `{found}`.", (found,))
    if name in ("true", "false", "null", "none"):
        right = {"true": "True", "false": "False", "null": "None", "none": "None"}[name]
        return Advice("scene:name", did_you_mean([right]), (right,))
    own = {*place.frame.f_locals, *place.frame.f_globals} if place and place.frame else set()
    if "self" in own and place and place.frame and _has(place.frame.f_locals.get("self"), name):
        return Advice("scene:name", f"Did you mean `self.{name}`?", (f"self.{name}",))
    candidates = nearest(name, own | {*vars(manim), *vars(builtins)})
    return Advice("scene:name", did_you_mean(candidates) or f"Define `{name}` before this line.", candidates)


def namespaced(name: str) -> str | None:
    """Return a colour or rate function of Manim that is in a namespace, with its name."""
    folded = name.replace("_", "").casefold()
    for function in vars(manim.rate_functions):
        if function.startswith("ease_") and function.replace("_", "") == folded:
            return f"rate_functions.{function}"
    for namespace in ("SVGNAMES", "X11", "XKCD"):
        for spelled in (name, name.replace("_", "")):
            if name.isupper() and spelled in vars(vars(manim)[namespace]):
                return f"{namespace}.{spelled}"
    return None


def _instead_of(name: str, new: str, place: Place | None, code: str) -> Fix | None:
    node = place.node if place else None
    return instead_of(node, new, code) if isinstance(node, ast.Name) and node.id == name else None


def of_import(error: ImportError) -> Advice:
    """Return advice for a module, or a name in one, that isn't there."""
    match = _CANNOT_IMPORT.search(str(error))
    if match and match[2] in sys.modules:
        name, is_manim = match[1], match[2].partition(".")[0] == "manim"
        if is_manim and (new := renamed.NAMES.get(name)) is not None:
            is_importable = new.name is not None and new.name in vars(manim)
            return Advice(
                "scene:import", instead(name, new), (new.name,) if new.name and is_importable else ()
            )
        candidates = nearest(name, vars(manim if is_manim else sys.modules[match[2]]))
        return Advice("scene:import", did_you_mean(candidates), candidates)
    top = (error.name or "").partition(".")[0]
    if top in _MANIMGL:
        hint = (
            "This is ManimGL, another library: use `from manim import *`, and the classes of Manim Community."
        )
        return Advice("scene:import", hint, ("manim",))
    if top == "manim" and error.name != "manim":
        return Advice("scene:import", "Manim has no such module: use `from manim import *`.", ("manim",))
    if isinstance(error, ModuleNotFoundError):
        if top in ("requests", "httpx", "aiohttp", "urllib3"):
            return Advice("scene:import", "There is no network: write the data into the code.")
        return Advice("scene:import", _PACKAGES)
    return Advice("scene:import")


def import_hint(module: str, *, is_local: bool) -> str:
    """Return what the message of a module that is not there is completed with.

    `is_local`: there may be modules beside the author's file.
    """
    top = module.partition(".")[0]
    if top in _MANIMGL:
        return (
            ". manimlib is ManimGL, another library; scenes here are for Manim Community: "
            "use `from manim import *`."
        )
    if top in ("manim", "scene") or is_local:
        return ""
    return (
        ". Scenes can import Manim, NumPy, SciPy, SymPy, Pillow, NetworkX, Typst, scenepress_scene, the "
        "standard library, modules among the account's files and what the studio that runs this service has "
        "put into python/."
    )


def of_attribute(error: AttributeError, place: Place | None, code: str) -> Advice:
    """Return advice for an attribute that an object doesn't have."""
    owner, name = missing_of(error)
    if not name:
        return Advice("scene:attribute")
    found = missing_attribute(owner, name)
    node = place.node.func if place and isinstance(place.node, ast.Call) else None
    if isinstance(node, ast.Attribute) and node.attr == name:
        return dataclasses.replace(found, span=last_name(node, code))
    return found


def missing_of(error: AttributeError) -> tuple[object, str]:
    """Return the object that an error is about, and the name of what it lacks; empty if that is not known."""
    message = str(error)
    owner, name = error.obj, error.name
    prefix = ""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        # Manim's own: it makes `get_…` of any attribute.
        if frame.f_code.co_name == "getter" and "to_get" in frame.f_locals:
            prefix = "get_"
        if frame.f_code.co_name == "__getattr__" and "attr" in frame.f_locals:
            owner, name = frame.f_locals.get("self"), prefix + frame.f_locals["attr"]
    if name is None:
        match = _NO_ATTRIBUTE.search(message) or _REMOVED.search(message)
        name = match[1] if match else ""
    if name and owner is None and "NoneType" not in message:
        modules = (sys.modules[word] for word in re.findall(r"\w+", message) if word in sys.modules)
        owner = next(modules, np if "np." in message else object())
    return owner, name


def missing_attribute(owner: object, name: str) -> Advice:
    """Return advice for an attribute `name` that `owner` doesn't have."""
    if owner is None:
        hint = (
            "It is None: nothing was assigned, or the function that it comes from returns nothing, as "
            "`append` and `play` do."
        )
        return Advice("scene:attribute", hint)
    if isinstance(owner, ModuleType):
        return _of_module(owner, name)
    if callable(owner) and not isinstance(owner, type) and hasattr(owner, "__code__"):
        shown = getattr(owner, "__name__", "it")
        if _has(manim.VMobject, name):
            hint = "A function is given where a mobject is needed: pass `axes.plot(function)`, or call it."
            return Advice("scene:attribute", hint)
        return Advice("scene:attribute", f"`{shown}` is a function: call it, `{shown}(…)`.")
    kind = owner if isinstance(owner, type) else type(owner)
    if isinstance(owner, str) and (said := of_text(name)) is not None:
        return Advice("scene:attribute", said, ("Text",))
    if isinstance(owner, int | float) and hasattr(str, name):
        return Advice(
            "scene:attribute",
            "Text is needed: write it between quotes, or convert it with `str(…)`.",
            ("str",),
        )
    if isinstance(owner, _GRAPHS) and name == "edges":
        return Advice("scene:attribute", "An edge names a vertex that is not among the vertices.")
    new = next((found for found in _renamed_of(kind, name)), None)
    if new is not None:
        return Advice("scene:attribute", instead(name, new), (new.name,) if new.name else ())
    if kind is list or kind is tuple:
        hint = f"It is a {kind.__name__}: put the mobjects into a `VGroup(*…)`, or go through them in a loop."
        if _has(manim.VMobject, name):
            return Advice("scene:attribute", hint)
    verb, _, rest = name.partition("_")
    if verb in _CHANGES and (setter := f"set_{rest}") in dir(kind):
        return Advice("scene:attribute", did_you_mean([setter]), (setter,))
    candidates = nearest(name, {*dir(kind), *_own(owner)})
    if candidates:
        return Advice("scene:attribute", did_you_mean(candidates), candidates)
    if isinstance(owner, manim.Scene):
        return Advice("scene:attribute", _of_scene(kind, name))
    if hasattr(kind, "CONFIG"):
        return Advice("scene:attribute", _CONFIG)
    return Advice("scene:attribute", f"`{kind.__name__}` has no `{name}`.")


def _of_module(module: ModuleType, name: str) -> Advice:
    if module is manim and (new := renamed.NAMES.get(name)) is not None:
        return Advice("scene:attribute", instead(name, new), (new.name,) if new.name else ())
    table = renamed.MODULES.get(module.__name__, {})
    candidates = (table[name],) if name in table else nearest(name, vars(module))
    return Advice("scene:attribute", did_you_mean(candidates), candidates)


def _of_scene(kind: type, name: str) -> str:
    scenes = (
        manim.ThreeDScene,
        manim.MovingCameraScene,
        manim.ZoomedScene,
        manim.VectorScene,
        manim.LinearTransformationScene,
    )
    owners = [scene for scene in scenes if hasattr(scene, name) and not issubclass(kind, scene)]
    if owners:
        return f"Make the scene a subclass of `{owners[0].__name__}`, which has `{name}`."
    if hasattr(kind, "CONFIG"):
        return _CONFIG
    if hasattr(manim.VMobject, name):
        return "It is the scene: `self.add` returns the scene. Assign the mobject before: `dot = Dot()`."
    return f"Assign `self.{name}` before this line, or use a local variable."


def _renamed_of(kind: type, name: str) -> Iterable[renamed.Renamed]:
    for base in kind.__mro__:
        if (new := renamed.ATTRIBUTES.get(base.__name__, {}).get(name)) is not None:
            yield new
    if issubclass(kind, _GRAPHS) and (new := renamed.ATTRIBUTES["Graph"].get(name)):
        yield new


def _own(owner: object) -> Iterable[str]:
    try:
        return vars(owner)
    except TypeError:  # without a dictionary of attributes
        return ()


def _has(owner: object, name: str) -> bool:
    return any(
        name in vars(base) for base in (owner if isinstance(owner, type) else type(owner)).__mro__
    ) or (not isinstance(owner, type) and name in _own(owner))
