"""Parts of a block, one file each: its fields as written (a Node), `resolve`, a Part that runs. Attention has three.

A slot is a word that patterns use; adding one is a file here, a line in SLOTS and a field in `spec.Scope`. Files are
imported where a model uses them.
"""

from __future__ import annotations

from archcalc.spec.node import Lazy

SLOTS = {  # what its fields are, for the spec
    "attention": Lazy(f"{__name__}.attention", "Attention"),
    "cross": Lazy(f"{__name__}.attention", "Attention"),
    "ffn": Lazy(f"{__name__}.ffn", "Ffn"),
    "moe": Lazy(f"{__name__}.moe", "Moe"),
    "mamba": Lazy(f"{__name__}.mamba", "Mamba"),
    "delta": Lazy(f"{__name__}.delta", "Delta"),
    "rglru": Lazy(f"{__name__}.rglru", "Rglru"),
    "lightning": Lazy(f"{__name__}.lightning", "Lightning"),
    "conv": Lazy(f"{__name__}.conv", "Conv"),
    "per_layer": Lazy(f"{__name__}.per_layer", "PerLayer"),
}
