"""Reports on a run of a model, which say in their first line what was asked for and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.core.mesh import Plan
from archcalc.report.base import Report
from archcalc.run.choice import MODE_WORDS, Choice, run_line, run_record


@dataclass(frozen=True, kw_only=True)
class RunReport(Report):
    mode: str
    batch: int
    lengths: dict[str, int]
    context: int  # tokens that are cached before the one that is decoded
    plan: Plan
    choices: tuple[Choice, ...]  # of the run, sizes and plan among them
    asked_mode: str = ""  # where another pass is counted
    cards: str = ""  # that it runs on, where they were named
    weights: str = ""  # their format

    def title(self) -> str:
        """The run in one line: what was asked for, then what was assumed."""
        mode = self.asked_mode or self.mode
        return run_line((self.model, MODE_WORDS.get(mode, mode)), self.choices, self.cards)

    def facts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "run": run_record(self.title(), self.choices),
            **self.scope.record(),
            "mode": self.mode,
            "batch": self.batch,
            **self.lengths,
            **({"context": self.context} if self.mode == "decode" else {}),
            **self.plan.record(),
            "weights_format": self.weights,
        }
