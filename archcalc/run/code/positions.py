"""Places of tokens, and tables of cosines and sines, made once in each forward pass."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Tensor, axes
from archcalc.run.code.writing import WIDE, Lines

Tables = tuple[Tensor, Tensor]  # cosines and sines


def places(seq: Dim) -> tuple[list[Op], Tensor]:
    """arange(seq), plus the tokens of a cache. Source: transformers, LlamaModel.forward."""
    counted, found = Tensor(axes(seq), "index"), Tensor(axes(seq), "index")
    return [Op("constant", (), counted), Op("add", (counted,), found)], found


def rotary_tables(positions: Tensor, tables: Tables, *, narrow: bool) -> list[Op]:
    """Source: transformers, LlamaRotaryEmbedding.forward: in fp32, then in the activations' number format."""
    *rows, width = tables[0].dims
    lines = Lines(narrow=narrow)
    frequencies = axes(*rows, Dim.of("half", int(width.size) // 2))
    angles = lines.do("scale", lines.do("cast", positions, role=WIDE), to=frequencies)
    both = lines.do("concat", angles, angles, to=tables[0].axes)
    lines.hold(angles, both)
    wide = [lines.do("scale", lines.do("constant", both), into=None if narrow else table) for table in tables]
    if narrow:
        lines.hold(*wide)
        for table, found in zip(tables, wide, strict=True):
            lines.do("cast", found, into=table)
    return lines.scope()


def keep_frequencies(stack: Module, tables: Tables, number: int) -> None:
    """Two buffers in fp32. Source: transformers, LlamaRotaryEmbedding.__init__: inv_freq and original_inv_freq."""
    half = Dim.of("half", int(tables[0].dims[-1].size) // 2)
    for name in ("frequencies", "original_frequencies"):
        stack.buffer(f"{name}_{number}", half, role=WIDE)
