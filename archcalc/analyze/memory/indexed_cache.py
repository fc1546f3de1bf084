"""The cache of models whose attention looks at chosen positions (DSA): keys of the indexer are in fp8 with scales.

    indexed(root, run)          formats by the name of a vector's dimension, where they are not the cache's

Source: SGLang, DSATokenToKVPool in python/sglang/srt/mem_cache/memory_pool.py: 132 bytes a position for 128 numbers; of
a cache in fp8, 528 for the 512 of a latent vector, and the rotated part in 16 bits, which is 656 together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import appended
from archcalc.storage.format import Format, Stored, plain

if TYPE_CHECKING:
    from archcalc.core.ir import Module
    from archcalc.run.resolved import Run

INDEX, LATENT, ROTATED = "index_dim", "kv_rank", "rope_dim"
SCALED = Format("fp8 with a scale for every 128", (Stored(8), Stored(32, 128, "an fp32 scale")))


def indexed(root: Module, run: Run) -> dict[str, Format]:
    """Nothing for other models, and for engines that keep such keys as all others."""
    if not run.engine.rules.scales_indexer or all(tensor.dims[-1].name != INDEX for tensor, *_ in appended(root)):
        return {}
    in_fp8 = run.kv_format is not None and run.kv_format.name == "fp8"
    return {INDEX: SCALED, **({LATENT: SCALED, ROTATED: plain(run.activations)} if in_fp8 else {})}
