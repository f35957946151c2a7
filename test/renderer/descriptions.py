"""Descriptions of mobjects, to compare them."""

from typing import Any

import numpy as np
from manim import Mobject
from svgelements import Path as SvgPath


def described(value: Any, known: dict[int, int]) -> Any:
    """Return all there is to know about a mobject and what it refers to, for comparisons."""
    if isinstance(value, np.ndarray):
        bits = np.where(np.isnan(value), np.nan, value) if value.dtype.kind == "f" else value
        return value.dtype.str, value.shape, bits.tobytes()
    if isinstance(value, list | tuple):
        return [described(each, known) for each in value]
    if isinstance(value, dict):
        return [(name, described(each, known)) for name, each in value.items()]
    if isinstance(value, SvgPath):
        names = ["transform", "apply", "stroke", "fill", "stroke_width", "id", "_length", "_lengths"]
        attributes = [repr(getattr(value, name)) for name in names]
        return repr(value), value.d(), sorted(map(repr, value.values.items())), attributes
    if isinstance(value, Mobject):
        if id(value) in known:
            return known[id(value)]
        known[id(value)] = len(known)
        return type(value), [(name, described(each, known)) for name, each in value.__dict__.items()]
    return type(value), repr(value)
