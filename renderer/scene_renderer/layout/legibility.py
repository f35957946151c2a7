"""Finds texts that are too small, or too much like what is behind them."""

from collections.abc import Iterator

import numpy as np

from . import kinds
from .faults import Fault
from .geometry import Array
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


def find_small(shown: Shown, height_px: int) -> Iterator[Fault]:
    """Yield texts that can't be read in a video of this height."""
    for text in shown.texts:
        if text.alpha < _DIM or not kinds.has_letters(text.unit):
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
    contrast = np.maximum(_contrast(shown.fill[glyphs], around), _contrast(shown.stroke[glyphs], around))
    low = (contrast < _CONTRAST_LEAST) & is_known
    counts = is_known.sum(axis=1)
    start = 0
    for text in texts:
        part = slice(start, start + len(text.glyphs))
        start += len(text.glyphs)
        known = counts[part] >= _SPOTS_LEAST
        if not known.any() or text.has_border:
            continue
        # A line beside a glyph may have its colour.
        faint = known & (low[part].sum(axis=1) > _MOST * counts[part])
        if faint.sum() >= _MOST * known.sum() and not shown.is_covered(text):
            where = low[part] & faint[:, None]
            yield _faint_fault(text, around[part][where], float(np.median(contrast[part][where])))


def _around(shown: Shown, pixels: Array, glyphs: Array) -> tuple[Array, Array]:
    """Return colours around each glyph, red, green and blue from 0 to 1, and which are in the frame."""
    height, width = pixels.shape[:2]
    scale = np.array([width / shown.width, -height / shown.height])
    lo = shown.lo[glyphs] * scale + [width / 2, height / 2]
    hi = shown.hi[glyphs] * scale + [width / 2, height / 2]
    left, right, bottom, top = lo[:, 0], hi[:, 0], lo[:, 1] + 1.5, hi[:, 1] - 2.5
    middle = (left + right) / 2
    spots = np.array([[x, y] for y in (bottom, top) for x in (left, middle, right)])
    spots = np.floor(spots).astype(int).transpose(2, 0, 1)
    is_in = np.asarray((spots >= 0).all(axis=2) & (spots < [width, height]).all(axis=2))
    clipped = np.clip(spots, 0, [width - 1, height - 1])
    return pixels[clipped[..., 1], clipped[..., 0], :3] / 255, is_in


def _contrast(colours: Array, behind: Array) -> Array:
    """Return the contrast ratio of WCAG between colours, laid over what is behind, and that."""
    alpha = colours[:, None, 3:]
    laid = colours[:, None, :3] * alpha + behind * (1 - alpha)
    one, other = _luminance(laid), _luminance(behind)
    light, dark = np.maximum(one, other), np.minimum(one, other)
    result: Array = (light + 0.05) / (dark + 0.05)
    return result


def _luminance(colours: Array) -> Array:
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    result: Array = linear @ np.array([0.2126, 0.7152, 0.0722])
    return result


def _faint_fault(text: Text, behind: Array, contrast: float) -> Fault:
    colour = np.median(behind, axis=0)
    better = "WHITE" if float(_luminance(colour)) < 0.18 else "BLACK"
    code = "#" + "".join(f"{round(float(part) * 255):02x}" for part in colour)
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
