"""The error band of a training peak: what measured runs of the same code were within, from presets/accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.spec import paths

if TYPE_CHECKING:
    from archcalc.run.case import Case

ANY = "any"


@dataclass(frozen=True)
class Band:
    """Four of five of so many measured runs were within `percent`; of which code, or of any."""

    percent: int
    runs: int
    code: str

    @property
    def fraction(self) -> float:
        return self.percent / 100

    def assumption(self) -> Assumption:
        whose = "all codes" if self.code == ANY else self.code
        text = f"± {self.percent} %: four of five of {self.runs} measured training runs of {whose} are within it"
        return Assumption(Topic.ESTIMATE, text, self.percent)


def band(code: str) -> Band:
    """The band of a code, or of all of them together if none of its runs were measured."""
    found = _bands()
    name = code if code in found else ANY
    return Band(found[name]["band"], found[name]["runs"], name)


def measured_bands(case: Case) -> list[Band]:
    """The band of a case, if runs of its kind were measured: supervised ones were."""
    return [] if case.method.reads_tokens else [band(case.code.name)]


@cache
def _bands() -> dict[str, dict[str, int]]:
    from archcalc.spec.yaml_reader import read

    return read(paths.presets("accuracy")["training"].read_bytes(), "accuracy training").data
