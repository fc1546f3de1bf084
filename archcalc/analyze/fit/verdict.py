"""Whether something fits: surely, within the error of the numbers, not at all, or nobody can say.

A verdict inherits what it rests on. A count of a part of a model (`missing`) never fits: what is not counted is needed
too. Without a band of measured runs a verdict needs a distance of `FAR` percent.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from archcalc.network import Network
from archcalc.report.table import Tone
from archcalc.spec.units import binary_bytes

FAR = 20  # percent of the memory: what was compared with no measurement is believed from this distance on
UNMEASURED = "runs like this one were not compared with measurements"


class Verdict(Enum):
    """From the best to the worst."""

    FITS = "fits"
    TIGHT = "tight"
    CANNOT_SAY = "cannot say"
    NOT = "does not fit"

    @property
    def tone(self) -> Tone:
        tones: dict[Verdict, Tone] = {Verdict.FITS: "good", Verdict.TIGHT: "fair", Verdict.NOT: "bad"}
        return tones.get(self, "")

    @property
    def mark(self) -> str:
        return {Verdict.FITS: "✓", Verdict.TIGHT: "≈", Verdict.CANNOT_SAY: "?", Verdict.NOT: "✗"}[self]

    @property
    def word(self) -> str:
        """In a narrow column."""
        return {Verdict.FITS: "yes", Verdict.TIGHT: "tight", Verdict.CANNOT_SAY: "?", Verdict.NOT: "no"}[self]


@dataclass(frozen=True)
class Room:
    """The memory of a device, the error band, in percent, of what is put there (None: no such runs were measured), and
    the parts of the model that are not counted."""

    capacity: int
    percent: int | None
    missing: str = ""

    @property
    def safe(self) -> int:
        """What may be needed at most, such that it fits though it be more by the whole band."""
        if self.percent is None:
            return self.capacity * (100 - FAR) // 100
        return self.capacity * 100 // (100 + self.percent)

    @property
    def limit(self) -> int:
        """What surely does not fit is more than this."""
        if self.percent is None:
            return (self.capacity * (100 + FAR) - 1) // 100
        return self.capacity * (100 + self.percent) // 100

    def verdict(self, required: int) -> Verdict:
        if self.missing:
            return Verdict.NOT if required > self.capacity else Verdict.CANNOT_SAY
        if required <= self.safe:
            return Verdict.FITS
        if required > self.limit:
            return Verdict.NOT
        return Verdict.CANNOT_SAY if self.percent is None else Verdict.TIGHT

    def remark(self, required: int) -> str:
        """What a headline says after what is needed: why, where the verdict is not certain."""
        is_certain = self.verdict(required) in (Verdict.FITS, Verdict.NOT)
        return self.distance(required) if is_certain else self.why(required)

    def why(self, required: int) -> str:
        """The reason of the verdict."""
        found = self.verdict(required)
        is_certain = found in (Verdict.FITS, Verdict.NOT)
        return f"{self.distance(required)}{self._rests_on(is_certain=is_certain)}"

    def _rests_on(self, *, is_certain: bool) -> str:
        if self.missing:
            return ", and that is but a part of the model" if is_certain else f"; not counted: {self.missing}"
        if self.percent is None:
            near = "" if is_certain else f", less than {FAR} % of the memory"
            return f"{near}; {UNMEASURED}"
        return f", {'more' if is_certain else 'less'} than the error of ± {self.percent} %"

    def distance(self, required: int) -> str:
        """`6.38 GiB left`, `1.32 GiB more than there is`."""
        apart = binary_bytes(abs(self.capacity - required))
        return f"{apart} left" if required <= self.capacity else f"{apart} more than there is"


def missing(model: Network) -> str:
    """The parts of a model that are needed and not counted; nothing for a whole model."""
    found = [model.scope.without()] if model.scope.is_partial else []
    if not model.is_computed:
        found.append("activations and KV cache, since a list of tensors does not describe the computation")
    return " and ".join(found)
