"""Whether a number that somebody expected is the figure of a report, and if not, which convention makes it so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    YES = "yes"
    OTHERWISE = "otherwise"  # by another convention, or another figure of the same answer
    NO = "no"


@dataclass(frozen=True)
class Convention:
    """A way of counting, and what it comes to."""

    name: str
    value: int
    sentence: str

    def told(self) -> str:
        return f"{self.sentence} ({self.value:,})"


@dataclass(frozen=True)
class Expected:
    """`said` is the number as it was typed, `figure` what it was compared with."""

    said: str
    verdict: Verdict
    figure: str
    value: int
    conventions: tuple[Convention, ...] = ()  # that explain it; or, where none does, the nearest one

    @property
    def is_met(self) -> bool:
        return self.verdict is Verdict.YES

    def lines(self) -> list[str]:
        figure = f"{self.figure} ({self.value:,})"
        if self.is_met:
            return [f"expected {self.said}: yes, {figure}"]
        told = [one.told() for one in self.conventions]
        if self.verdict is Verdict.NO:
            nearest = f"; nearest: {told[0]}" if told else ""
            return [f"expected {self.said}: not {figure}, and no convention that archcalc knows{nearest}"]
        return [f"expected {self.said}: not {figure}, but {'perhaps ' if len(told) > 1 else ''}{', or '.join(told)}"]

    def record(self) -> dict[str, Any]:
        return {**vars(self), "verdict": str(self.verdict), "conventions": [{**vars(one)} for one in self.conventions]}
