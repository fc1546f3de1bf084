"""What a decoder keeps from one token to the next: keys and values, or a recurrent state.

    kept = cache(root, Policy("bf16"))      root built for `mode="decode"`: the cache after that step
    kept.bytes, kept.pieces, kept.of(module)

Forward code records `append` where it keeps something; this is the sum over what was kept.
"""

from __future__ import annotations

from archcalc.analyze.memory.saved import Kept, Saved
from archcalc.core.execution import never, runs
from archcalc.core.ir import Module
from archcalc.core.precision import Policy


def cache(root: Module, policy: Policy) -> Saved:
    """Every tensor of the role `cache`, once for each run of the module that keeps it."""
    found = [run for run in runs(root, trainable=never) if run.op.output.role == "cache" and not run.op.output.base]
    return Saved(tuple(Kept(run.op.output, run.times, run.module, run.op) for run in found), policy)
