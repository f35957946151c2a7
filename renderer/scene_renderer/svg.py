"""Reads SVG files without writing temporary ones.

Manim adds its defaults to an SVG document, writes it beside the file, reads that and removes it. Here the
identical document stays in memory.
"""

import io
from typing import Any
from xml.etree import ElementTree

import svgelements
from manim import RIGHT, SVGMobject


def read_without_writing() -> None:
    """Replace Manim's SVG loading for its own classes and those of scenes."""
    SVGMobject.generate_mobject = _generate_mobject  # type: ignore[method-assign, assignment]


def _generate_mobject(self: SVGMobject) -> SVGMobject:
    """Parse the SVG and translate its elements to submobjects."""
    plain: ElementTree.ElementTree[Any] = ElementTree.parse(self.get_file_path())
    document = io.BytesIO()
    self.modify_xml_tree(plain).write(document)
    document.seek(0)
    shapes, self.id_to_vgroup_dict = self.get_mobjects_from(svgelements.SVG.parse(document))
    self.add(*shapes)
    self.flip(RIGHT)
    return self
