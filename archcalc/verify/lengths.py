"""How long the sequences are on which a model is compared: as asked, or short."""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.spec.workload import Longest, Workload


def few(limit: Longest) -> int:
    """A few tokens behind the positions that there must be, within the position table."""
    if limit.fixed and limit.length:
        return limit.length
    before = limit.least - 1
    return before + min(6, max(1, (limit.length or before + 8) - before - 2))


def workload_of(model: Model, *, quick: bool = False, **sizes: Any) -> Workload:
    """The requested lengths; for a quick check two sequences of 64 positions, or 16 in recurrent models."""
    if not quick:
        return model.workload(**sizes)
    longest = model.resolved.lengths
    usual = 16 if model.spec.family == "recurrent" else 64
    open_ended = [name for name, limit in longest.items() if not limit.fixed]
    asked: dict[str, Any] = {name: _quick(longest[name], usual) for name in open_ended}
    if set(asked) - {"seq", "src_seq", "tgt_seq"}:
        raise InputError(f"no quick look at {model.name}", "name its lengths")
    return model.workload(batch=2, **asked)


def _quick(limit: Longest, usual: int) -> int:
    """So many tokens behind the positions that there must be."""
    wanted = limit.least - 1 + usual
    return min(wanted, limit.length or wanted)
