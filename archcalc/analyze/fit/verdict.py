"""Whether something fits: surely, within the error of the numbers, not at all, or nobody can say.

A verdict inherits what it rests on. A count of a part of a model (`missing`) never fits: what is not counted is needed
too. Without a band of measured runs a verdict needs a distance of `FAR` percent. Near the limit of a device PyTorch's
allocator frees the blocks that it keeps, and tries again: what is `cached` so never makes that something does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from archcalc.report.units import Tone, unit
from archcalc.spec.units import binary_bytes

FAR = 20  # percent of the memory: what was compared with no measurement is believed from this distance on
UNMEASURED = "runs like this one were not compared with measurements"


class Verdict(Enum):
    """From the best to the worst, each with its mark, its word in a narrow column, and how it is coloured."""

    mark: str
    word: str
    tone: Tone

    FITS = "fits", "✓", "yes", "good"
    TIGHT = "tight", "≈", "tight", "fair"
    CANNOT_SAY = "cannot say", "?", "?", ""
    NOT = "does not fit", "✗", "no", "bad"

    def __new__(cls, value: str, mark: str, word: str, tone: Tone) -> Verdict:
        found = object.__new__(cls)
        found._value_, found.mark, found.word, found.tone = value, mark, word, tone
        return found


unit("verdict", lambda verdict: verdict.word, left=True, tone=lambda verdict: verdict.tone)


@dataclass(frozen=True)
class Room:
    """The memory of a device, and what is known of that which is put there."""

    capacity: int
    percent: int | None  # the error band; None: no such runs were measured
    missing: str = ""  # the parts of a model that are needed and not counted; nothing for a whole model
    crowded: str = ""  # why the rest of a device may not do, of which an engine fills a share

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

    def verdict(self, required: int, cached: int = 0) -> Verdict:
        """`cached` is what of it PyTorch's allocator holds beyond what is allocated."""
        if self.missing:
            return Verdict.NOT if required - cached > self.capacity else Verdict.CANNOT_SAY
        if required <= self.safe:
            return Verdict.TIGHT if self.crowded else Verdict.FITS
        if required - cached > self.limit:
            return Verdict.NOT
        return Verdict.CANNOT_SAY if self.percent is None else Verdict.TIGHT

    def why(self, required: int, cached: int = 0, *, briefly: bool = False) -> str:
        """`6.38 GiB left` or `1.32 GiB more than there is`, and what the verdict rests on: `briefly` where it is not
        certain."""
        is_certain = self.verdict(required, cached) in (Verdict.FITS, Verdict.NOT)
        apart = binary_bytes(abs(self.capacity - required))
        apart += " left" if required <= self.capacity else " more than there is"
        if not is_certain and required - cached <= self.capacity < required:
            free = binary_bytes(self.capacity - required + cached)
            freed = f"PyTorch frees {binary_bytes(cached)} of cached blocks and tries again"
            return f"{apart}; {freed}: {free} left"
        if briefly and is_certain:
            return apart
        if self.crowded and required <= self.safe:
            return f"{apart}, and {self.crowded}"
        if self.missing:
            rest = ", and that is but a part of the model" if is_certain else f"; not counted: {self.missing}"
            return f"{apart}{rest}"
        if self.percent is None:
            near = "" if is_certain else f", less than {FAR} % of the memory"
            return f"{apart}{near}; {UNMEASURED}"
        return f"{apart}, {'more' if is_certain else 'less'} than the error of ± {self.percent} %"
