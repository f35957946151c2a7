"""The module in C that the set-up compiles from ``native/scenepress_native/``."""

import sys
from importlib.util import find_spec

INTERFACE = "895cc071"
"""The interface that this package calls: the first digits of the SHA-256 of ``scenepress_native.pyi``."""
_REMEDY = (
    "Run the set-up of this environment again: `npx scenepress setup`, or `node scripts/setup.mjs` in a "
    "checkout"
)


def is_compiled() -> bool:
    """Return whether there is such a module; without it, the parts that it replaces are Manim's."""
    return find_spec("scenepress_native") is not None


def check() -> None:
    """Exit if the module can't be loaded, or was compiled from the sources of another version."""
    try:
        import scenepress_native
    except ImportError as error:
        sys.exit(f"the compiled module scenepress_native can't be loaded: {error}. {_REMEDY}")
    if getattr(scenepress_native, "INTERFACE", None) != INTERFACE:
        sys.exit(f"the module scenepress_native was compiled from the sources of another version. {_REMEDY}")
