"""Imports: nothing is imported; modules are looked up among those that are imported already."""

import ast
import sys
import types

from .attributes import is_module
from .reading import Reading
from .values import UNKNOWN, Value, exactly

_HIDDEN = "_"


def plain(reading: Reading, node: ast.Import) -> None:
    """Read `import a.b`."""
    for alias in node.names:
        if not _exists(reading, alias.name, node):
            reading.scope.bind(alias.asname or alias.name.partition(".")[0], UNKNOWN)
            continue
        top = alias.name if alias.asname else alias.name.partition(".")[0]
        reading.scope.bind(alias.asname or top, _module(top))


def _module(name: str) -> Value:
    found = sys.modules.get(name)
    return (
        exactly(found)
        if type(found) is types.ModuleType and not name.startswith("scene_renderer")
        else UNKNOWN
    )


def _exists(reading: Reading, name: str, node: ast.stmt) -> bool:
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        part = ".".join(parts[:count])
        try:
            if is_module(part):
                continue
        except Exception:  # of a finder
            return True
        parent = ".".join(parts[: count - 1])
        text = f"No module named {part!r}"
        if parent and not hasattr(sys.modules.get(parent), "__path__"):
            text += f"; {parent!r} is not a package"
        reading.error(ModuleNotFoundError(text, name=part), node)
        return False
    return True


def names(reading: Reading, node: ast.ImportFrom) -> None:
    """Read `from a import b`."""
    is_star = any(alias.name == "*" for alias in node.names)
    if node.level or node.module == "__future__":
        reading.is_wild |= is_star
        _bind_unknown(reading, node)
        return
    name = node.module or ""
    if not _exists(reading, name, node):
        reading.is_wild |= is_star
        _bind_unknown(reading, node)
        return
    module = sys.modules.get(name)
    if type(module) is not types.ModuleType or name.startswith("scene_renderer"):
        reading.is_wild |= is_star
        _bind_unknown(reading, node)
        return
    for alias in node.names:
        if alias.name == "*":
            for exported in getattr(module, "__all__", vars(module)):
                if not exported.startswith(_HIDDEN) or exported in getattr(module, "__all__", ()):
                    reading.scope.bound[exported] += 0
                    reading.scope.bind(exported, exactly(vars(module)[exported]))
            continue
        reading.scope.bind(alias.asname or alias.name, _imported(reading, module, alias.name, node))


def _bind_unknown(reading: Reading, node: ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name != "*":
            reading.scope.bind(alias.asname or alias.name, UNKNOWN)


def _imported(reading: Reading, module: types.ModuleType, name: str, node: ast.ImportFrom) -> Value:
    if name in vars(module):
        return exactly(vars(module)[name])
    if is_module(f"{module.__name__}.{name}") and hasattr(module, "__path__"):
        return UNKNOWN
    try:
        return exactly(getattr(module, name))
    except AttributeError:
        file = getattr(module, "__file__", None)
        text = f"cannot import name {name!r} from {module.__name__!r} ({file or 'unknown location'})"
        reading.error(ImportError(text, name=module.__name__, path=file), node)
    except Exception:
        return UNKNOWN
    return UNKNOWN
