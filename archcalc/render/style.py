"""Weight, shade and colour of terminal text.

Styled text carries marks that no font has; `unstyled` takes them out for a pipe, `on_terminal` turns them into what a
terminal obeys. The marks are characters that `archcalc.core.visible` lets no name have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcalc.report.table import Tone

_BOLD, _DIM, _CYAN, _END, _GREEN, _YELLOW, _RED, _BLUE, _MAGENTA = MARKS = (
    "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
)
_CODES = {
    _BOLD: "\x1b[1m",
    _DIM: "\x1b[2m",
    _CYAN: "\x1b[36m",
    _END: "\x1b[0m",
    _GREEN: "\x1b[32m",
    _YELLOW: "\x1b[33m",
    _RED: "\x1b[31m",
    _BLUE: "\x1b[34m",
    _MAGENTA: "\x1b[35m",
}
_SERIES = (_CYAN, _YELLOW, _GREEN, _MAGENTA, _BLUE, _RED)  # of curves, which differ by their marks besides
_TONES: dict[Tone, str] = {"good": _GREEN, "fair": _YELLOW, "bad": _RED}


def bold(text: str) -> str:
    return f"{_BOLD}{text}{_END}"


def dim(text: str) -> str:
    return f"{_DIM}{text}{_END}"


def coloured(text: str) -> str:
    return f"{_CYAN}{text}{_END}"


def toned(text: str, tone: Tone) -> str:
    """Green, yellow or red, or as it is."""
    return f"{_TONES[tone]}{text}{_END}" if tone else text


def painted(text: str, number: int) -> str:
    """In the colour of one of several curves."""
    return f"{_SERIES[number % len(_SERIES)]}{text}{_END}"


def unstyled(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, MARKS)))


def on_terminal(text: str) -> str:
    return text.translate({ord(mark): code for mark, code in _CODES.items()})
