"""Files and networks that scenes ask for."""

import re
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manim import ImageMobject, SVGMobject, config
from manim.utils.images import get_full_raster_image_path, get_full_vector_image_path
from manim.utils.sounds import get_full_sound_file_path

from .pure import Unclear, literal
from .reading import Reading
from .values import UNKNOWN, Value

if TYPE_CHECKING:
    from .calls import Arguments

# The scene may make the file itself.
_WRITES = re.compile(
    r"\b(?:open|dump|savefig|imsave|imwrite|extractall|chdir|mkdir|copyfile|symlink\w*)\(|\.(?:save|write\w*)\("
    r"|\b(?:assets_dir|shutil|tempfile|subprocess|zipfile|tarfile)\b"
)
_NETWORK = ("urlopen", "urlretrieve", "create_connection")


def check(reading: Reading, kind: type, arguments: "Arguments") -> None:
    """Check the file of a picture."""
    if issubclass(kind, ImageMobject):
        _check(reading, arguments, "filename_or_array", get_full_raster_image_path)
    elif kind is SVGMobject:
        _check(reading, arguments, "file_name", get_full_vector_image_path)


def check_sound(reading: Reading, arguments: "Arguments") -> None:
    """Check the file of a sound."""
    _check(reading, arguments, "sound_file", _sound)


def _sound(file: str) -> Path:
    return get_full_sound_file_path(file, config.get_dir("assets_dir"))


def check_network(reading: Reading, function: Any, arguments: "Arguments") -> None:
    """Report what needs a network."""
    module = getattr(function, "__module__", "")
    if module in ("urllib.request", "socket") and function.__name__ in _NETWORK:
        reading.error(urllib.error.URLError("there is no network"), arguments.node)


def _check(reading: Reading, arguments: "Arguments", name: str, find: Callable[[Any], Path | str]) -> None:
    value: Value = arguments.given[0] if arguments.given else arguments.named.get(name, UNKNOWN)
    try:
        file = literal(value)
    except Unclear:
        return
    if not isinstance(file, str) or not file or _WRITES.search(reading.report.code):
        return
    try:
        find(file)
    except OSError as error:
        reading.error(OSError(str(error).replace(str(Path.cwd()), ".")), arguments.node)
    except Exception:
        return
