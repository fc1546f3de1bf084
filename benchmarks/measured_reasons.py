"""Why a training peak and archcalc's differ, read from what the case says of itself."""

from __future__ import annotations

from measured_classes import differs
from measured_models import Case


def reason(case: Case, error: float) -> str:
    """What no option says, or else the likeliest cause; more than one may be at work."""
    return differs(case) or next((told for told, holds in _reasons(case, error).items() if holds), "not explained")


def _reasons(case: Case, error: float) -> dict[str, bool]:
    flags, method = case["flags"], str(case["flags"].get("method", "")).lower()
    compiled, optimizer = flags.get("compile"), str(flags.get("optimizer")).lower()
    fused = case["id"].startswith("tune") and flags.get("recompute") == "full" and "8bit" not in optimizer
    metric = str(case["measured"].get("metric"))
    return {
        # From 16,384 to 32,768 tokens its peak grows by 5.9 GiB, of which the blocks' inputs are 4.0; logits in bf16
        # would be 3.9 more.
        "compiled as one graph, which never holds the logits of all tokens": compiled == "graph_trainer",
        "less than bf16 weights, gradients and Adam's two states alone: not plain AdamW": method == "full",
        "4-bit layers hold something that the table does not tell (LoRA over bf16: 2 to 27 % off)": "lora" in method
        and bool(case.get("quantisation")),
        "a fused optimizer step; here every parameter's update exists at once": fused,
        "compiled: fused operations save less for the backward pass": compiled is True and error > 0,
        "peak reserved by the allocator, not allocated": "reserved" in metric and error < 0,
        "the data set's longest sequence; norms and rotations written out op by op": bool(method),
    }
