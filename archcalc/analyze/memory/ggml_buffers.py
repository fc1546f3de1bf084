"""The compute buffer that llama.cpp keeps in host RAM: the inputs of its graph.

    host_buffer(root, run, positions)       bytes of `CUDA_Host compute buffer size`, as its log prints them

A full cache is reserved for: one mask for each kind of attention, in copies where several devices compute one after the
other, and what is looked up in the input table.
Source: llama.cpp, sched_reserve in src/llama-context.cpp, build_attn_inp_kq_mask in src/llama-graph.cpp and
ggml_backend_sched_split_graph in ggml/src/ggml-backend.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.seen_positions import masks, tokens_at_once
from archcalc.core.ir import Module, Op, Region, walk
from archcalc.core.precision import BYTES

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def host_buffer(root: Module, run: Run, positions: int) -> int:
    """The mask, in the device's number format where scores are stored, and tensors of the residual stream."""
    rule, kernel = run.engine.rules.host_buffer, run.engine.rules.attention.get(run.attention)
    assert rule
    mask = kernel.mask if kernel and kernel.scores and kernel.mask else rule.mask
    blocks = (module for module, _ in walk(root) if module.region == Region.BLOCK)
    stream = (item.output for block in blocks for item in block.body if isinstance(item, Op))
    width = max((int(tensor.dims[-1].size) for tensor in stream), default=0)
    tensors = rule.tensors * width * tokens_at_once(run, positions) * BYTES[run.activations]
    return run.engine.copies * masks(root, run, positions, mask) + tensors
