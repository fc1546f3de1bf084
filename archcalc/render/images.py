"""A picture as PNG or PDF, drawn from its SVG by CairoSVG, which is an optional extra."""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError, MissingExtra

SCALE = 2  # pixels of a PNG for each of the SVG, for slides and sharp screens
NEED = "CairoSVG, which draws PNG and PDF,"


def png(svg: str) -> bytes:
    return bytes(_cairosvg().svg2png(bytestring=svg.encode(), scale=SCALE))


def pdf(svg: str) -> bytes:
    return bytes(_cairosvg().svg2pdf(bytestring=svg.encode()))


def _cairosvg() -> Any:
    try:
        import cairosvg
    except ImportError:
        raise MissingExtra(NEED, "images") from None
    except OSError:  # the package is there, the library that it calls is not
        hint = "install it (`apt install libcairo2`, `brew install cairo`, GTK on Windows), or write .svg"
        raise InputError("the library cairo, which CairoSVG draws with, is not installed", hint) from None
    return cairosvg
