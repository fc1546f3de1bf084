"""Parts of a block, one file each: its fields as written (a Node), `resolve`, and a Part that runs.

A slot is a word that patterns use; adding one is a file here, a line in SLOTS and a field in `spec.Scope`.
"""

from __future__ import annotations

from types import ModuleType

from archcalc.archs.transformer.parts import attention, conv, delta, ffn, mamba, moe, rglru

SLOTS: dict[str, ModuleType] = {
    "attention": attention,
    "cross": attention,
    "ffn": ffn,
    "moe": moe,
    "mamba": mamba,
    "delta": delta,
    "rglru": rglru,
    "conv": conv,
}
