"""Refuse a quantised KV cache whose blocks do not divide a model's heads, for engines that store whole blocks.

Source: llama.cpp, llama_init_from_model in src/llama-context.cpp: its flash kernel reads a head as whole blocks;
without it a position of all heads has to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import CacheFormats, appended, grows
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.core.positions import GROWING

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def check_blocks(root: Module, run: Run, formats: CacheFormats) -> None:
    rule = run.engine.rules.cache
    if not (rule and rule.whole_blocks):
        return
    for tensor in (tensor for tensor, _, _ in appended(root) if grows(tensor)):
        kept = formats.of_growing(tensor)
        width = _row(tensor) if run.attention == "eager" else int(tensor.dims[-1].size)
        if width % kept.block:
            what = "values" if tensor.of_values else "keys"
            of = "all heads have" if run.attention == "eager" else "a head has"
            fact = f"{run.engine.rules.name} stores {what} in {kept.name} in blocks of {kept.block}, and {of} {width}"
            raise InputError(fact, "choose fp16 or bf16", field="--kv-dtype")


def _row(tensor: Tensor) -> int:
    """Numbers of one position, of all heads."""
    return prod(_widths(tensor))


def _widths(tensor: Tensor) -> Iterator[int]:
    return (int(dim.size) for dim in tensor.dims if dim.positions not in GROWING and dim.name != "batch")
