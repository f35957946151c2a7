"""Pictures of a scene, and a contact sheet of them."""

import io
import math
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from ..scene_error import SceneError
from ..video.frames import Frame
from .picture import Shown
from .sound import Track

PICTURES_MAX = 120
SHEET_PIXELS_MAX = 1_150_000
SHEET_BYTES_MAX = 200_000
_QUALITY = 85
_SHEET_QUALITIES = (85, 75, 65, 50, 35, 20)
_COLUMN_WIDTH_MIN_PX = 200
_GAP_PX = 4
# The longer side of a sheet by the shorter one.
_LENGTH_MAX = 2.0
_BACKGROUND = (40, 40, 40)


class Pictures:
    """A JPEG of each frame, and one with all of them in a grid, numbered from 1."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self._pictures: list[Image.Image] = []
        self._jpegs: list[bytes] = []

    def show(self, shown: Shown, _: Frame) -> None:
        """Keep the picture. Raises SceneError if there are too many."""
        if len(self._jpegs) >= PICTURES_MAX:
            raise SceneError("The scene's process sent too many pictures.")
        picture = Image.fromarray(shown.frame("rgb24").to_ndarray())
        jpeg = _jpeg(picture, _QUALITY)
        self._pictures.append(picture)
        self._jpegs.append(jpeg)
        self.size_bytes += len(jpeg)

    def finish(self) -> None:
        """Do nothing."""

    def write(self, path: Path, _: Track) -> None:
        """Write the contact sheet, and the pictures beside it."""
        path.write_bytes(_fitting(sheet_of(self._pictures)))
        for number, jpeg in enumerate(self._jpegs, 1):
            (path.parent / f"picture-{number}.jpg").write_bytes(jpeg)


def sheet_of(pictures: list[Image.Image]) -> Image.Image:
    """Return pictures of the same size in a grid, as large as fits; of many, an even selection."""
    width, height = pictures[0].size
    shown = _selection(len(pictures), _most(width, height))
    columns, scale = _grid(len(shown), width, height)
    rows = math.ceil(len(shown) / columns)
    cell = max(1, int(width * scale)), max(1, int(height * scale))
    sheet = Image.new(
        "RGB",
        (columns * (cell[0] + _GAP_PX) - _GAP_PX, rows * (cell[1] + _GAP_PX) - _GAP_PX),
        _BACKGROUND,
    )
    for place, index in enumerate(shown):
        small = pictures[index].resize(cell, Image.Resampling.LANCZOS)
        _number(small, index + 1)
        row, column = divmod(place, columns)
        sheet.paste(small, (column * (cell[0] + _GAP_PX), row * (cell[1] + _GAP_PX)))
    return sheet


def _most(width: int, height: int) -> int:
    """Return how many pictures fit that can still be recognized."""
    least = _COLUMN_WIDTH_MIN_PX * min(1.0, width / height)
    return max(1, int(SHEET_PIXELS_MAX / ((least + _GAP_PX) * (least * height / width + _GAP_PX))))


def _selection(count: int, most: int) -> list[int]:
    if count <= most:
        return list(range(count))
    if most == 1:
        return [count - 1]
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


def _grid(count: int, width: int, height: int) -> tuple[int, float]:
    """Return the number of columns with which the pictures are largest, and their scale.

    A sheet that is much longer than wide, or the other way round, would be scaled down by who looks at it.
    """
    best = (False, 0.0, -math.inf, 1)
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        # The larger root of: area of the sheet with gaps = the most.
        across, down = _GAP_PX * (columns - 1), _GAP_PX * (rows - 1)
        a = columns * width * rows * height
        b = columns * width * down + rows * height * across
        c = across * down - SHEET_PIXELS_MAX
        scale = min(1.0, (-b + math.sqrt(max(0, b * b - 4 * a * c))) / (2 * a))
        sides = columns * width, rows * height
        length = max(sides) / min(sides)
        best = max(best, (length <= _LENGTH_MAX, scale, -length, columns))
    return best[3], best[1]


def _number(picture: Image.Image, number: int) -> None:
    """Write a number into the upper left corner, readable on any picture."""
    size = max(12, picture.height // 9)
    font = ImageFont.load_default(size)
    draw = ImageDraw.Draw(picture)
    left, top, right, bottom = draw.textbbox((0, 0), str(number), font=font)
    pad = size // 4
    draw.rectangle((0, 0, right - left + 2 * pad, bottom - top + 2 * pad), fill=(0, 0, 0))
    draw.text((pad - left, pad - top), str(number), font=font, fill=(255, 255, 255))


def _fitting(sheet: Image.Image) -> bytes:
    """Return a picture as JPEG of at most the size of a sheet."""
    for quality in _SHEET_QUALITIES:
        jpeg = _jpeg(sheet, quality)
        if len(jpeg) <= SHEET_BYTES_MAX:
            return jpeg
    return _fitting(sheet.resize((sheet.width * 3 // 4, sheet.height * 3 // 4), Image.Resampling.LANCZOS))


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=quality, optimize=True)
    return data.getvalue()
