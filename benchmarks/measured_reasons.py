"""Why a training peak and archcalc's differ, read from what the case says of itself."""

from __future__ import annotations

from measured_models import Case
from measured_peaks import is_reserved


def reason(case: Case, error: float) -> str:
    """The likeliest cause; more than one may be at work."""
    return next((told for told, holds in _reasons(case, error).items() if holds), "not explained")


def _reasons(case: Case, error: float) -> dict[str, bool]:
    flags, method = case["flags"], str(case["flags"].get("method", "")).lower()
    optimizer = str(flags.get("optimizer")).lower()
    fused = case["id"].startswith("tune") and flags.get("recompute") == "full" and "8bit" not in optimizer
    return {
        "less than bf16 weights, gradients and Adam's two states alone: not plain AdamW": method == "full",
        # From 16,384 to 32,768 tokens its peak grows by 5.9 GiB, of which the blocks' inputs are 4.0; logits in bf16
        # would be 3.9 more.
        "compiled as one graph, which never holds the logits of all tokens": flags.get("compile") == "graph_trainer",
        "an optimizer's step that is fused; here every parameter's update exists at once": fused and error > 0,
        "reserved by the allocator, which is more than tensors take": is_reserved(case) and error < 0,
        # litgpt projects to queries, keys and values at once, so that what is kept of one keeps all, and drops out
        # 5 % before its adapters: a mask and a copy
        "in part: fused projections that are kept whole, dropout before the adapters": "lora" in method,
        "an older partitioner, or what it fuses": bool(flags.get("compile")),
    }
