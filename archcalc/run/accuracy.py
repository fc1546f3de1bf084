"""Error bands of peaks: what measured runs were within, from presets/accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

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
    of: str = "training runs"

    @property
    def fraction(self) -> float:
        return self.percent / 100

    def assumption(self) -> Assumption:
        text = f"± {self.percent} %: four of five of {self.runs} measured {self.of}{self._whose} are within it"
        return Assumption(Topic.ESTIMATE, text, self.percent)

    @property
    def _whose(self) -> str:
        """The code that ran; what was measured of inference says that itself."""
        if self.of != Band.of:
            return ""
        return " of all codes" if self.code == ANY else f" of {self.code}"


def band(code: str) -> Band:
    """The band of a code, or of all of them together if none of its runs were measured."""
    found = _bands("training")
    name = code if code in found else ANY
    return Band(found[name]["band"], found[name]["runs"], name)


def measured_bands(case: Case) -> list[Band]:
    """The band of a case, if runs of its kind were measured: supervised ones were."""
    return [] if case.method.reads_tokens else [band(case.code.name)]


def inference_band() -> Band:
    """The band of inference, of any model."""
    found = _bands("inference")[ANY]
    return Band(found["band"], found["runs"], ANY, found["of"])


@cache
def _bands(kind: str) -> dict[str, dict[str, Any]]:
    from archcalc.spec.yaml_reader import read

    return read(paths.presets("accuracy")[kind].read_bytes(), f"accuracy {kind}").data
