"""A step of a prompt that is read in pieces: its attention looks at all that is cached, and not at its piece alone.

    see_past        a pass: scores of 512 tokens are scores with 8,192 positions
    store_scores    a pass: what an engine stores of them that has a kernel of its own
    masks           bytes of the masks that such an engine keeps beside the layers

Source: llama.cpp, build_attn_mha and build_attn_inp_kq_mask in src/llama-graph.cpp, for a cache that is full, as its
context reserves memory: softmax works in place, so that scores are stored once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.decode_cache import PAGED, in_pages
from archcalc.core.ir import Module, Tensor, walk
from archcalc.core.positions import Positions
from archcalc.core.precision import BYTES
from archcalc.run.engine.rules import Stores
from archcalc.simulate.nodes import Cell
from archcalc.simulate.schedule import Schedule

if TYPE_CHECKING:
    from archcalc.run.resolved import Run


def see_past(schedule: Schedule, run: Run, positions: int) -> Schedule:
    """Tensors along the positions of a piece get as long as all of them, or as a window and the piece; what is cached
    is not."""
    done: set[Cell] = set()
    for step in schedule.steps():
        for cell in (*step.reads, *step.makes):
            dims = () if cell in done or cell.tensor.role == "cache" else cell.tensor.dims
            piece = next((int(dim.size) for dim in dims if dim.positions is Positions.PAST), 0)
            if 0 < piece < positions:
                schedule.bytes[cell] = schedule.bytes[cell] // piece * _seen(run, step.module, positions)
                done.add(cell)
    return schedule


def store_scores(schedule: Schedule, run: Run, positions: int, kernel: Stores, passing: int) -> Schedule:
    """One score for each head, token of the step that memory is reserved for, and cached position, while attention
    computes; and what of the masks is there in `passing`."""
    tokens = tokens_at_once(run, positions)
    for step in schedule.steps():
        if step.op.traits.attention_kernel:
            queries = step.op.inputs[0].dims
            is_stored = kernel.scores and int(queries[-1].size) not in kernel.fused_heads
            rows = run.plan.part(queries[1]) * tokens * _seen(run, step.module, positions)
            step.scratch.append(passing + (rows * BYTES[kernel.scores] if is_stored and kernel.scores else 0))
    return schedule


def tokens_at_once(run: Run, positions: int) -> int:
    """Of a step that memory is reserved for."""
    return min(run.engine.tokens or positions, positions)


def masks(root: Module, run: Run, positions: int, precision: str) -> int:
    """One for all layers without a window, and one for those with it."""
    attending = (module for module, _ in walk(root) if any(op.traits.attention_kernel for op in module.ops))
    seen = {_seen(run, module, positions) for module in attending}
    return tokens_at_once(run, positions) * sum(seen) * BYTES[precision]


def _seen(run: Run, within: Module | None, positions: int) -> int:
    """Cached positions that the layer that a module is in looks at, as the engine lays them out."""
    kept: list[Tensor] = []
    while not kept and within:
        kept = [op.output for op in within.ops if op.output.role == "cache"]
        within = within.parent
    reach = next((dim.reach for dim in kept[0].dims if dim.reach), None) if kept else None
    if run.kv_rule == PAGED:
        return in_pages(positions, reach.positions if reach else positions, run.prefill)
    piece = run.prefill or positions
    return min(positions, reach.positions - 1 + piece) if reach else positions
