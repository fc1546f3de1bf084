"""How much work a question is: lines of archcalc that it runs, turns of loops included. No clock is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import archcalc

PACKAGE = str(Path(archcalc.__file__).parent)


class TooMuchWork(BaseException):
    """Beyond the bound; nothing that catches exceptions takes it for one of its own."""


def lines_run(question: Callable[[], Any], most: int = sys.maxsize) -> int:
    """How many lines a question runs; one of more than `most` is stopped."""
    run = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal run
        run += event == "line"
        if run > most:
            raise TooMuchWork(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return line

    def called(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(PACKAGE) else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        question()
    finally:
        sys.settrace(before)
    return run
