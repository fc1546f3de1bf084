"""Parts of a block, one file each: its fields as written (a Node), `resolve`, a Part that runs. Attention has three.

A slot is a word that patterns use; adding one is a file here, a line in SLOTS and a field in `spec.Scope`. Files are
imported where a model uses them.
"""

from __future__ import annotations

from archcalc.spec.node import Lazy

SLOTS = {
    "attention": "Attention",
    "cross": "Attention",
    "ffn": "Ffn",
    "moe": "Moe",
    "mamba": "Mamba",
    "delta": "Delta",
    "rglru": "Rglru",
    "lightning": "Lightning",
    "conv": "Conv",
}


FILES = {slot: f"{__name__}.{slot}" for slot in SLOTS} | {"cross": f"{__name__}.attention"}


def slot_node(slot: str) -> Lazy:
    """What a slot's fields are, for the spec."""
    return Lazy(FILES[slot], SLOTS[slot])
