"""Weight, shade and colour of terminal text.

Styled text carries marks that no font has: `text.translate(UNSTYLED)` takes them out for a pipe, ON_TERMINAL turns them
into what a terminal obeys. The marks are characters that `archcalc.core.visible` lets no name have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcalc.report.units import Tone

BOLD, DIM, CYAN, _END, _GREEN, _YELLOW, _RED, _BLUE, _MAGENTA = MARKS = (
    "\ue000\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
)
_CODES = (1, 2, 36, 0, 32, 33, 31, 34, 35)  # of the marks, in their order
ON_TERMINAL = str.maketrans({mark: f"\x1b[{code}m" for mark, code in zip(MARKS, _CODES, strict=True)})
UNSTYLED = str.maketrans("", "", MARKS)
_SERIES = (CYAN, _YELLOW, _GREEN, _MAGENTA, _BLUE, _RED)  # of curves, which differ by their marks besides
TONES: dict[Tone, str] = {"good": _GREEN, "fair": _YELLOW, "bad": _RED}


def styled(text: str, mark: str) -> str:
    return f"{mark}{text}{_END}"


def painted(text: str, number: int) -> str:
    """In the colour of one of several curves."""
    return styled(text, _SERIES[number % len(_SERIES)])
