"""A training code without a month is today's: by how much its earlier versions move the answer, where they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from archcalc.core.assumptions import Assumption, Topic
from archcalc.run.accuracy import Band

NOTABLE = 0.03  # where nothing was measured that a band could be told of


def history_notes(code: str, now: int, earlier: Mapping[str, int], error: Band | None) -> Iterator[Assumption]:
    """`earlier` has the bytes by the code as it stood at the end of a month, where such a version has the model; what
    is off by more than the band is told."""
    notable = error.fraction if error else NOTABLE
    moved = {month: size / now - 1 for month, size in earlier.items()}
    shown = [f"{share:+.0%} in {month}" for month, share in moved.items() if abs(share) > notable]
    if shown:
        text = f"{code} without a month is today's; its earlier code took {', '.join(shown)}"
        yield Assumption(Topic.CODE, text, code, f"--code {code}@MONTH")
