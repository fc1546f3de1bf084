"""Longformer's attention: a sliding window, and second projections for tokens with global attention."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, when
from archcalc.importers.hf._helpers.layer_types import attentions


def windows(c: Config, blocks: int) -> tuple[Fields, Fields | None, Value]:
    """Attention, its variants and the stack: one window for all blocks, or one for each."""
    c.notes.append("sliding-window attention is counted as full attention under a mask; the class computes parts of it")
    c.notes.append("no token has global attention: the projections for such tokens are counted, but not used")
    each = c.get("attention_window")
    if not isinstance(each, list):
        each = [c.size("attention_window")] * blocks
    if len(each) != blocks or not all(isinstance(one, int) and one > 0 for one in each):
        raise c.wrong("attention_window", f"a window, or one for each of {blocks} blocks")
    differ = [when(one != each[0], window=one) for one in each]
    made = attentions(differ, ["ffn"] * blocks)
    return {"window": each[0], "global_qkv": True}, made["variants"], made["decoder"]
