"""How much colours differ in brightness; colours are rows of red, green, blue and opacity from 0 to 1."""

import numpy as np

from .geometry import Array


def contrast(colours: Array, behind: Array) -> Array:
    """Return the contrast ratio of WCAG between colours, laid over what is behind, and that."""
    alpha = colours[:, None, 3:]
    laid = colours[:, None, :3] * alpha + behind * (1 - alpha)
    one, other = luminance(laid), luminance(behind)
    light, dark = np.maximum(one, other), np.minimum(one, other)
    result: Array = (light + 0.05) / (dark + 0.05)
    return result


def luminance(colours: Array) -> Array:
    """Return the relative luminance of WCAG."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    result: Array = linear @ np.array([0.2126, 0.7152, 0.0722])
    return result


def name(colour: Array) -> str:
    """Return a colour as hexadecimal digits."""
    return "#" + "".join(f"{round(float(part) * 255):02x}" for part in colour)
