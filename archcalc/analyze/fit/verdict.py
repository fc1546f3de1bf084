"""Whether something fits: surely, within the error of the numbers, or not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from archcalc.report.base import Tone


class Verdict(Enum):
    FITS = "fits"
    TIGHT = "tight"
    NOT = "does not fit"

    @property
    def tone(self) -> Tone:
        tones: dict[Verdict, Tone] = {Verdict.FITS: "good", Verdict.TIGHT: "fair", Verdict.NOT: "bad"}
        return tones[self]


@dataclass(frozen=True)
class Room:
    """The memory of a device, and the error band, in percent, of what is put there. A limit that the system recommends
    and does not enforce may be passed by no more than the band."""

    capacity: int
    percent: int
    is_recommended: bool = False

    @property
    def safe(self) -> int:
        """What may be needed at most, such that it fits though it be more by the whole band."""
        return self.capacity * 100 // (100 + self.percent)

    @property
    def limit(self) -> int:
        """What surely does not fit is more than this."""
        return self.capacity * (100 + self.percent) // 100 if self.is_recommended else self.capacity

    def verdict(self, required: int) -> Verdict:
        if required > self.limit:
            return Verdict.NOT
        return Verdict.FITS if required <= self.safe else Verdict.TIGHT
