"""What is computed again in the backward pass: attention's core, whole blocks, or a block's ops one by one.

Op by op, as torchtitan's selective checkpointing chooses: the results of matrix products and of the attention kernel
are kept, except for every second product with a matrix alone, and all else of the block is computed again.
Source: pytorch/torchtitan, torchtitan/distributed/activation_checkpoint.py, over PyTorch's list of ops that are
intensive to compute (torch._functorch.partitioners): mm, addmm, bmm, convolution and attention. Products with a bias
are `addmm`, which is not counted among those of which every second goes; experts' grouped products, and kernels, are on
no list. What sequence parallelism sums and scatters over GPUs is kept too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from archcalc.core.ir import Module, Op, Param, Region, Tensor

OPS = "ops"
REGIONS = {"core": Region.CORE, OPS: Region.BLOCK, "block": Region.BLOCK}  # what each choice recomputes


class Result(NamedTuple):
    """An op that is not recomputed, and the tensors saved instead."""

    module: Module
    op: Op
    tensors: tuple[Tensor, ...]


def is_recomputed(module: Module, recompute: str) -> bool:
    """Whether the module is checkpointed: recomputed in the backward pass, all of it or in part."""
    return module.region is not None and module.region is REGIONS.get(recompute)


def results(block: Module, recompute: str) -> list[Result]:
    """The results saved under op-level selective checkpointing; none if the whole block is recomputed."""
    return list(_kept(list(_ops(block)))) if recompute == OPS else []


def _kept(ops: list[tuple[Module, Op]]) -> Iterator[Result]:
    plain = 0
    for (module, op), (owner, following) in zip(ops, [*ops[1:], ops[-1]], strict=True):
        biased = following.traits.joins_product and following.inputs[0] is op.output and owner is module
        biased = biased and isinstance(following.inputs[-1], Param)
        is_product, weights = op.traits.contraction, {len(one.axes) for one in op.inputs if isinstance(one, Param)}
        if op.traits.expensive and not is_product:
            yield Result(module, op, (op.output.storage, *op.beside.values()))
        elif is_product and 1 in weights:  # one kernel adds a bias too
            yield Result(module, op, (op.output.storage,))
        elif is_product and not op.select:
            plain += 2 in weights and not biased
            if biased:
                yield Result(module, op, ())
                yield Result(module, following, (following.output.storage,))
            elif plain % 2 or 2 not in weights:
                yield Result(module, op, (op.output.storage,))


def _ops(module: Module) -> Iterator[tuple[Module, Op]]:
    """Fused kernels are not on the list of saved ops either."""
    for item in module.body:
        if isinstance(item, Op):
            yield module, item
        elif item.region != Region.KERNEL:
            yield from _ops(item)
