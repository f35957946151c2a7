"""Reads SVG files without writing temporary ones.

Manim adds its defaults to an SVG document, writes it beside the file, reads that and removes it. Here the
identical document stays in memory.
"""

import io
from typing import Any
from xml.etree import ElementTree

import svgelements
from manim import RIGHT, SingleStringMathTex, SVGMobject

from ..replacing import replace
from . import svg_pages, svg_texts
from .moulds import Shapes


def read_without_writing() -> None:
    """Replace the SVG loading of Manim's and the scene's classes."""
    replace(SVGMobject, generate_mobject=_generate_mobject)
    replace(SingleStringMathTex, init_svg_mobject=_init_svg_mobject)


def _generate_mobject(self: SVGMobject) -> SVGMobject:
    """Parse the SVG and translate its elements to submobjects."""
    source = self.get_file_path().read_bytes()
    made = svg_pages.mobjects(self, source) or svg_texts.mobjects(self, source)
    return _take(self, made or _parse(self, source))


def _init_svg_mobject(self: SingleStringMathTex, use_svg_cache: bool) -> SVGMobject:
    """Make new mobjects instead of keeping a copy of them for the next expression that is the same.

    Most expressions are not repeated, and the file of an expression never changes.
    """
    if type(self).generate_mobject is _generate_mobject:
        made = svg_pages.mobjects(self, self.get_file_path().read_bytes())
        if made:
            return _take(self, made)
    return SVGMobject.init_svg_mobject(self, use_svg_cache=use_svg_cache)


def _take(image: SVGMobject, made: Shapes) -> SVGMobject:
    shapes, image.id_to_vgroup_dict = made
    image.add(*shapes)
    image.flip(RIGHT)
    return image


def _parse(image: SVGMobject, source: bytes) -> Shapes:
    plain: ElementTree.ElementTree[Any] = ElementTree.parse(io.BytesIO(source))
    document = io.BytesIO()
    image.modify_xml_tree(plain).write(document)
    document.seek(0)
    return image.get_mobjects_from(svgelements.SVG.parse(document))
