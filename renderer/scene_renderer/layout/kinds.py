"""What mobjects are by their classes: texts, arrangements of their own, planes, backings."""

from manim import (
    Axes,
    BackgroundRectangle,
    BarChart,
    Code,
    Cross,
    DecimalNumber,
    Graph,
    Group,
    LabeledDot,
    MarkupText,
    Mobject,
    NumberLine,
    Paragraph,
    PolarPlane,
    Polygram,
    SingleStringMathTex,
    SurroundingRectangle,
    Table,
    Text,
    TipableVMobject,
    Typst,
    Underline,
    VectorField,
    VGroup,
    VMobject,
)
from manim.mobject.graphing.coordinate_systems import NumberPlane
from manim.mobject.vector_field import StreamLine

TEXTS = (Text, MarkupText, Paragraph, SingleStringMathTex, DecimalNumber, Typst)
# Classes that mean nothing by themselves.
_PLAIN = (Mobject, VMobject, Group, VGroup)
_FIELDS = (VectorField, StreamLine)
_PLANES = (NumberPlane, PolarPlane)
_MARKS = (Cross, Underline, SurroundingRectangle, BackgroundRectangle)
_STRUCTURES = (Axes, BarChart, Code, Graph, LabeledDot, NumberLine, Table)


def is_text(mobject: Mobject) -> bool:
    """Whether a mobject is one text: its parts belong together."""
    return isinstance(mobject, TEXTS)


def is_plain(mobject: Mobject) -> bool:
    """Whether a mobject is only a group."""
    return type(mobject) in _PLAIN


def is_plane(mobject: Mobject) -> bool:
    """Whether a mobject is a grid to draw on."""
    return isinstance(mobject, _PLANES)


def is_coordinate_system(mobject: Mobject) -> bool:
    """Whether a mobject is axes or a plane, which may be larger than the frame."""
    return isinstance(mobject, Axes | PolarPlane | NumberLine) and not isinstance(mobject, BarChart)


def is_field(mobject: Mobject) -> bool:
    """Whether a mobject fills an area with arrows or lines."""
    return isinstance(mobject, _FIELDS)


def is_mark(mobject: Mobject) -> bool:
    """Whether a mobject is put on or around others on purpose."""
    return isinstance(mobject, _MARKS)


def has_tip(mobject: Mobject) -> bool:
    """Whether a mobject is an arrow."""
    return isinstance(mobject, TipableVMobject) and mobject.has_tip()


def is_no_glyph(mobject: Mobject) -> bool:
    """Whether a part of a text isn't written: its backing, frame, line or dot."""
    return isinstance(mobject, TipableVMobject | Polygram)


def is_structure(mobject: Mobject) -> bool:
    """Whether a mobject arranges its parts itself: a class of Manim's or the author's for a whole."""
    return isinstance(mobject, _STRUCTURES) or not (is_plain(mobject) or is_text(mobject))


def has_letters(mobject: Mobject) -> bool:
    """Whether a text has letters or digits, as far as it is known."""
    words = text_of(mobject)
    return not words or any(map(str.isalnum, words))


def text_of(mobject: Mobject) -> str:
    """Return what a text says; empty if that isn't known."""
    for name in ("original_text", "text", "tex_string", "typst_code"):
        value = vars(mobject).get(name)
        if isinstance(value, str):
            return value
    if isinstance(mobject, DecimalNumber):
        return str(vars(mobject).get("number", "0"))
    return ""
