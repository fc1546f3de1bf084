"""What a chart's SVG holds, for tests that compare it with the numbers it was drawn from."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from xml.etree.ElementTree import Element

from archcalc.render.chart.drawing import Drawing, Point


def element(drawing: Drawing) -> Element:
    return ElementTree.fromstring(drawing.svg("chart"))


def words(drawing: Drawing) -> list[str]:
    """Every text that is read in it."""
    return [found.text or "" for found in element(drawing).findall(".//text")]


def marked(drawing: Drawing, mark: str) -> list[Element]:
    return [found for found in element(drawing).iter() if mark in found.attrib]


def corners(path: Element) -> list[Point]:
    """Of an area or a line."""
    numbers = [float(found) for found in re.findall(r"-?[\d.]+", path.attrib["d"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))
