"""Finds texts that are too small, or too much like what is behind them."""

from collections.abc import Iterator, Sequence

import numpy as np

from . import colours, kinds
from .faults import Fault
from .geometry import Array, distances, touching
from .shown import Shown, Text

_DIM = 0.5  # texts that are less opaque are so on purpose
# The least size of a letter: of the frame's height, and in pixels of the video.
_SHARE_LEAST, _PIXELS_LEAST = 0.0129, 6.5
_TEX = 1.25  # letters of TeX are smaller than those of other fonts of the same size
_LONG = 3.5  # how many times as long as wide bars and dashes are
_CONTRAST_LEAST = 1.75
_INVISIBLE = 1.2
_MOST = 0.6  # of the spots around a glyph, and of the glyphs
_SPOTS_LEAST = 3
_SHIFTED = 0.3  # of the height of a letter: a shadow
# The height of ornaments: of the frame, and of the letters on them.
_ORNAMENT, _LARGER = 0.2, 2.5
_BACKS = 0.5  # the opacity of a backing
_LINES_PER_UNIT, _LINES_MAX = 100, 100
_BLUR = 0.006  # of the frame's height, around a line


def find_small(shown: Shown, height_px: int) -> Iterator[Fault]:
    """Yield texts that can't be read in a video of this height."""
    half = np.array([shown.width, shown.height]) / 2
    for text in shown.texts:
        if text.alpha < _DIM or not kinds.has_letters(text.unit):
            continue
        if (text.lo > half).any() or (text.hi < -half).any():
            continue
        if any(map(kinds.is_plane, text.chain)):
            continue
        share = _letter(shown, text) / shown.height
        least = max(_SHARE_LEAST, _PIXELS_LEAST / height_px)
        if 0 < share < least and not shown.is_covered(text):
            factor = np.ceil(least * 1.3 / share * 10) / 10
            message = (
                f"{{name}} is too small to be read: its letters are {round(share * height_px)} pixels high "
                f"in a video of {height_px}."
            )
            hint = f"Scale `{{name}}` by {factor:g}, or give it a larger `font_size`."
            yield Fault("layout:small-text", text.unit, message, hint, text.lo, text.hi, chain=text.chain)


def _letter(shown: Shown, text: Text) -> float:
    """Return the usual size of a letter, however the text is turned."""
    sizes = shown.hi[text.glyphs] - shown.lo[text.glyphs]
    large, small = sizes.max(axis=1), sizes.min(axis=1)
    letters = large[large < _LONG * np.maximum(small, 1e-6)]
    if not len(letters):
        return 0.0
    size = float(np.sort(letters)[len(letters) * 3 // 4])
    is_tex = hasattr(text.unit, "tex_template")
    return size * _TEX if is_tex else size


def find_faint(shown: Shown, pixels: Array) -> Iterator[Fault]:
    """Yield texts whose colour is too close to the pixels around their glyphs."""
    texts = [text for text in shown.texts if text.alpha >= _DIM]
    if not texts:
        return
    glyphs = np.concatenate([text.glyphs for text in texts])
    around, is_known = _around(shown, pixels, glyphs)
    contrast = np.maximum(
        colours.contrast(shown.fill[glyphs], around), colours.contrast(shown.stroke[glyphs], around)
    )
    low = (contrast < _CONTRAST_LEAST) & is_known
    counts = is_known.sum(axis=1)
    start = 0
    for text in texts:
        part = slice(start, start + len(text.glyphs))
        start += len(text.glyphs)
        known = counts[part] >= _SPOTS_LEAST
        if not known.any() or text.has_border or is_shadow(text, texts) or is_backdrop(shown, text, texts):
            continue
        faint = known & (low[part].sum(axis=1) > _MOST * counts[part])
        if faint.sum() >= _MOST * known.sum() and not shown.is_covered(text):
            where = low[part] & faint[:, None]
            if _is_beside_lines(shown, text, _places(shown, pixels, text.glyphs)[where]):
                continue
            yield _faint_fault(text, around[part][where], float(np.median(contrast[part][where])))


def is_shadow(text: Text, texts: Sequence[Text]) -> bool:
    """Whether the same letters are drawn above a text, moved a little."""
    words = kinds.text_of(text.unit)
    return any(
        other.glyphs[0] > text.glyphs[-1]
        and len(other.glyphs) == len(text.glyphs)
        and kinds.text_of(other.unit) == words
        and np.abs(other.lo - text.lo).max() < _SHIFTED * text.height
        and np.abs(other.hi - text.hi).max() < _SHIFTED * text.height
        for other in texts
    )


def is_backdrop(shown: Shown, text: Text, texts: Sequence[Text]) -> bool:
    """Whether a text is an ornament: large letters in a faint colour, on their own or with a text on them."""
    if _contrast_behind(shown, text) >= _CONTRAST_LEAST:
        return False
    return text.height > _ORNAMENT * shown.height or any(
        other.glyphs[0] > text.glyphs[-1]
        and text.height > _LARGER * other.height
        and ((other.lo < text.hi) & (other.hi > text.lo)).all()
        for other in texts
    )


def _contrast_behind(shown: Shown, text: Text) -> float:
    """Return the contrast of a text with the shape, or the background, that it is on."""
    first = int(text.glyphs[0])
    around = (shown.lo[:first] <= text.lo).all(axis=1) & (shown.hi[:first] >= text.hi).all(axis=1)
    backs = np.flatnonzero(around & (shown.fill[:first, 3] > _BACKS))
    behind = shown.fill[backs[-1], :3] if len(backs) else shown.background
    return float(colours.contrast(shown.fill[first, None], behind[None, None])[0, 0])


def _is_beside_lines(shown: Shown, text: Text, places: Array) -> bool:
    """Whether the places around a text that have its colour lie on lines thinner than its letters."""
    slack = _BLUR * shown.height
    near = touching(shown.lo - slack, shown.hi + slack, text.lo - slack, text.hi + slack)
    width = shown.line / _LINES_PER_UNIT
    lines = np.flatnonzero(near & (shown.stroke[:, 3] > 0) & (width < text.height) & shown.is_shape)
    if not len(lines):
        return False
    on_line = np.zeros(len(places), bool)
    for index in lines[:_LINES_MAX].tolist():
        away = distances(places, shown.segments(index))
        on_line |= away < width[index] / 2 + slack
    return bool(on_line.mean() > _MOST)


def _around(shown: Shown, pixels: Array, glyphs: Array) -> tuple[Array, Array]:
    """Return colours around each glyph, red, green and blue from 0 to 1, and which are in the frame."""
    height, width = pixels.shape[:2]
    spots = _spots(shown, pixels, glyphs)
    is_in = np.asarray((spots >= 0).all(axis=2) & (spots < [width, height]).all(axis=2))
    clipped = np.clip(spots, 0, [width - 1, height - 1])
    return pixels[clipped[..., 1], clipped[..., 0], :3] / 255, is_in


def _spots(shown: Shown, pixels: Array, glyphs: Array) -> Array:
    """Return the pixels, as columns and rows, that are looked at around each glyph."""
    height, width = pixels.shape[:2]
    scale = np.array([width / shown.width, -height / shown.height])
    lo = shown.lo[glyphs] * scale + [width / 2, height / 2]
    hi = shown.hi[glyphs] * scale + [width / 2, height / 2]
    left, right, bottom, top = lo[:, 0], hi[:, 0], lo[:, 1] + 1.5, hi[:, 1] - 2.5
    middle = (left + right) / 2
    spots = np.array([[x, y] for y in (bottom, top) for x in (left, middle, right)])
    return np.asarray(np.floor(spots).astype(int).transpose(2, 0, 1))


def _places(shown: Shown, pixels: Array, glyphs: Array) -> Array:
    """Return the places in the frame of the pixels around each glyph."""
    height, width = pixels.shape[:2]
    scale = np.array([shown.width / width, -shown.height / height])
    places: Array = (_spots(shown, pixels, glyphs) + 0.5 - [width / 2, height / 2]) * scale
    return places


def _faint_fault(text: Text, behind: Array, contrast: float) -> Fault:
    colour = np.median(behind, axis=0)
    better = "WHITE" if float(colours.luminance(colour)) < 0.18 else "BLACK"
    code = colours.name(colour)
    message = f"{{name}} is hard to see on {code}: the contrast is {contrast:.1f} to 1."
    hint = f"Use a colour that differs more in brightness, such as {better}."
    return Fault(
        "layout:contrast",
        text.unit,
        message,
        hint,
        text.lo,
        text.hi,
        chain=text.chain,
        is_placed=False,
        is_revocable=contrast < _INVISIBLE,
    )
