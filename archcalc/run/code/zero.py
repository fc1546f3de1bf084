"""Which stage of ZeRO an option means under a library's code."""

from __future__ import annotations

DISTRIBUTED_OPTIMIZER = 1  # the stage that divides master weights and optimizer states


def stage(zero: int, gpus: int, code: str | None) -> int:
    """A distributed optimizer may be on while there is nobody to share with; then nothing is divided."""
    if zero != DISTRIBUTED_OPTIMIZER or gpus > 1 or not code:
        return zero
    from archcalc.run.code.library import code as library

    return 0 if library(code).habits.sharding == "optimizer" else zero
