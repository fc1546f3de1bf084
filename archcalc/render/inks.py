"""Colours for light and for dark pages.

The series are those of Okabe and Ito (Color Universal Design, 2008), which people with any common kind of colour
blindness can tell apart; on dark pages the darker ones are lightened.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Ink(NamedTuple):
    """A colour, and the name that its CSS classes are made of."""

    name: str
    light: str
    dark: str


INK = Ink("ink", "#1c2430", "#e8eaed")
MUTED = Ink("muted", "#5c6673", "#a3acb8")
PAGE = Ink("page", "#ffffff", "#15181d")
PANEL = Ink("panel", "#f7f8fa", "#1b1f26")
RULE = Ink("rule", "#d9dde3", "#333a44")  # grid lines and hairlines
GOOD = Ink("good", "#00684c", "#4cc9a0")
FAIR = Ink("fair", "#8a5a00", "#f0b840")
BAD = Ink("bad", "#b03a00", "#ff8a50")
# Grounds of cells that ink is read on, by what is left of a memory.
ROOMY = Ink("roomy", "#8fd3b3", "#1d6b4e")
FITTING = Ink("fitting", "#c0e6d2", "#1b4f3d")
CLOSE = Ink("close", "#e4f4ec", "#1c382f")
TIGHT = Ink("tight", "#ffe2a0", "#6a4d0c")
UNSURE = Ink("unsure", "#dfe3ea", "#3a424e")
TOO_LARGE = Ink("too-large", "#fbd0bf", "#63301c")
MARGINS = (ROOMY, FITTING, CLOSE, TIGHT, UNSURE, TOO_LARGE)

SERIES = (
    Ink("blue", "#0072b2", "#4aa3df"),
    Ink("orange", "#e69f00", "#f0b030"),
    Ink("green", "#009e73", "#2fc39a"),
    Ink("purple", "#cc79a7", "#db92bb"),
    Ink("sky", "#56b4e9", "#8fd0f5"),
    Ink("vermilion", "#d55e00", "#f07c2c"),
    Ink("yellow", "#f0e442", "#f5ec7a"),
    Ink("grey", "#8a929e", "#8f98a5"),
)
DASHES = ("", "7 4", "2 3", "9 3 2 3")  # so that lines differ without colour


def series(number: int) -> Ink:
    return SERIES[number % len(SERIES)]


def dash(number: int) -> str:
    return DASHES[number % len(DASHES)]


def variables(inks: Iterable[Ink]) -> str:
    """CSS that lets a page write its colours by name, `var(--rule)`; paper is light."""
    named = sorted(set(inks))
    light = "".join(f"--{ink.name}:{ink.light};" for ink in named)
    dark = "".join(f"--{ink.name}:{ink.dark};" for ink in named)
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"


def rules(inks: Iterable[Ink], inside: str) -> str:
    """CSS that gives elements of the class `inside` their colours, in light and in dark."""
    named = sorted(set(inks))
    light = (
        f".{inside} .f-{ink.name}{{fill:{ink.light}}}.{inside} .s-{ink.name}{{stroke:{ink.light}}}" for ink in named
    )
    return f"{''.join(light)}{dark_rules(named, inside)}"


def dark_rules(inks: Iterable[Ink], inside: str) -> str:
    """CSS that gives elements of the class `inside` their dark colours; the light ones are attributes of elements."""
    named = sorted(set(inks))
    rules = (f".{inside} .f-{ink.name}{{fill:{ink.dark}}}.{inside} .s-{ink.name}{{stroke:{ink.dark}}}" for ink in named)
    return f"@media screen and (prefers-color-scheme:dark){{{''.join(rules)}}}"
