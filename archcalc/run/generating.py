"""Whether a model generates tokens one by one, with keys and values or a state of those before."""

from __future__ import annotations

from archcalc.core.tree import ops_in
from archcalc.network import Network
from archcalc.spec.workload import Workload


def generates(model: Network) -> bool:
    """As a decode step of it says, which keeps a cache."""
    root = model.build(Workload(1, dict.fromkeys(model.resolved.lengths, 1), mode="decode"))
    return any(op.output.role == "cache" for op in ops_in(root))
