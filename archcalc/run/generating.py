"""Whether a model generates tokens one by one, with keys and values or a state of those before."""

from __future__ import annotations

from archcalc.core.tree import ops_in
from archcalc.network import Network


def generates(model: Network) -> bool:
    """As the reading of a prompt says, which keeps a cache."""
    root = model.build(model.workload(mode="prefill", attention="flash"))
    return any(op.output.role == "cache" for op in ops_in(root))
