"""Colours by kind of part, for light and for dark pages; the light ones follow the figure of Vaswani et al."""

from __future__ import annotations

from typing import NamedTuple

from archcalc.analyze.diagram.graph import PartKind
from archcalc.render import inks


class Colour(NamedTuple):
    light: str
    light_edge: str
    dark: str
    dark_edge: str


COLOURS = {
    PartKind.EMBEDDING: Colour("#fbe0e3", "#d98a94", "#4a2a30", "#b86b77"),
    PartKind.ATTENTION: Colour("#ffe3bf", "#dfa24e", "#4a361b", "#c08a3e"),
    PartKind.FEED_FORWARD: Colour("#cbe8f7", "#69aed0", "#1d3b4c", "#5a9dbf"),
    PartKind.EXPERTS: Colour("#c9dcf5", "#6f97cf", "#22344f", "#6a8fc4"),
    PartKind.NORM: Colour("#f3f2c4", "#b9b45c", "#3d3c20", "#9b9650"),
    PartKind.CONVOLUTION: Colour("#c8ebe3", "#5fb09e", "#1c3f38", "#4f9e8c"),
    PartKind.POOLING: Colour("#d9edc7", "#86b85e", "#2d3f20", "#76a551"),
    PartKind.RECURRENT: Colour("#e6dbf6", "#a283cf", "#382a4c", "#9678c4"),
    PartKind.STATE_SPACE: Colour("#dcd8f8", "#8a80d0", "#2f2b52", "#857bcb"),
    PartKind.LINEAR: Colour("#e2e4ee", "#9297b3", "#30323f", "#82879f"),
    PartKind.HEAD: Colour("#d3ead6", "#74ae7d", "#233d28", "#66a070"),
    PartKind.ACTIVATION: Colour("#ffffff", "#a8adb8", "#24272e", "#7d8490"),
    PartKind.STACK: Colour("#f4f5f7", "#a8adb8", "#262a31", "#6b7280"),
    PartKind.OTHER: Colour("#ffffff", "#a8adb8", "#24272e", "#7d8490"),
}
INK = inks.INK[1:]
MUTED = inks.MUTED[1:]
WIRE = ("#6b7480", "#98a1ad")
PAGE = inks.PAGE[1:]
FRAME = inks.PANEL[1:]
FRAME_EDGE = ("#c3c9d2", "#3c444f")
