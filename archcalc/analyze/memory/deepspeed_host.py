"""What DeepSpeed's process of one GPU keeps in host RAM where the CPU updates the weights.

Below stage 3 (ZeRO-Offload) it has flat buffers of this GPU's part: fp32 master weights, fp32 gradients, and one in the
weights' dtype from which new weights are copied to the GPU; beside them one gradient of the largest parameter, and the
sums of micro-batches, parameter by parameter. Stage 3 has fp32 gradients in groups, and a flat buffer of gradients in
the weights' dtype. Its parameters in host RAM (ZeRO-Infinity) are pinned one by one, and then moved to a flat buffer:
PyTorch keeps the pinned blocks that this frees.
Source: DeepSpeed, deepspeed/runtime/zero/stage_1_and_2.py (single_partition_of_fp32_groups and its grad,
param_buffer_of_bit16_for_cpu_offload_groups, temp_grad_buffer_for_cpu_offload, accumulated_grads_in_cpu), stage3.py
(fp32_partitioned_groups_flat and its grad, grad_partitions_flat_buffer, _move_to_flat_buffer), partition_parameters.py
(_partition_param). Issue 7693 measured 10 bytes a parameter before the first step and 8 more after it, without pinning;
in the log of issue 4775, 8 pinned buffers of gradients take 17.25 GiB, which are 10.1 exactly and 16 rounded up.
"""

from __future__ import annotations

from archcalc.analyze.memory.states import FLAT, Keeping, ParameterMemory, flat
from archcalc.core.precision import BYTES
from archcalc.run.offload import Offload
from archcalc.spec.data_files import shipped


def pinned_rounding(size: int) -> int:
    """What PyTorch's allocator of pinned memory adds to a block: it rounds up to a power of two.
    Source: PyTorch, aten/src/ATen/core/CachingHostAllocator.h"""
    return (1 << (size - 1).bit_length()) - size if size else 0


def deepspeed_host(parameters: ParameterMemory, keeping: Keeping, offload: Offload, accumulate: int) -> dict[str, int]:
    """Bytes by part, with an optimizer in host RAM."""
    rules, plan, states = shipped("offload", "deepspeed"), keeping.plan, parameters.states
    trained = [one for one in parameters.held if keeping.trained(one.param)]
    wide, narrow = (trained_bytes(parameters, keeping, is_master=is_master) for is_master in (True, False))
    blocks = {"weights": [], "master": [wide], "gradients": [wide], "staging": [narrow]}
    kept = {"master": wide, "gradients": wide, "optimizer": states["optimizer"], "staging": narrow, "pinned": 0}
    if plan.zero == 3:
        blocks["gradients"] = _groups(wide, rules["sub_group"] * _width(keeping, is_master=True))
    else:
        largest = max((one.elements for one in trained), default=0) * _width(keeping, is_master=False)
        blocks["staging"].append(largest)
        kept["staging"] += largest
    if plan.zero < 3 and accumulate > 1:
        each = [(one.copies, one.weights // one.copies) for one in trained]
        kept["staging"] += narrow
        kept["pinned"] += sum(copies * pinned_rounding(size) for copies, size in each) // plan.shards
    if offload.params:
        kept |= {"weights": states["weights"], "freed": narrow}
        kept["pinned"] += sum(one.copies * pinned_rounding(one.weights // one.copies) for one in parameters.held)
        blocks["weights"] = [narrow]
    pinned = rules["pinned"]["sharded" if plan.zero == 3 else "flat"]
    kept["pinned"] += sum(pinned_rounding(size) for part in pinned for size in blocks[part])
    return kept


def trained_bytes(parameters: ParameterMemory, keeping: Keeping, *, is_master: bool) -> int:
    """All that this GPU updates, in the dtype of master weights or of weights."""
    plan, width, total = keeping.plan, _width(keeping, is_master=is_master), 0
    for one in parameters.held:
        if keeping.trained(one.param):
            total += one.copies * width * (plan.sharded(one.param) if plan.zero == 3 else one.elements)
    return flat(total, parameters.held, keeping, plan.shards) if plan.zero in FLAT else total


def _width(keeping: Keeping, *, is_master: bool) -> int:
    assert keeping.recipe
    return BYTES[(keeping.recipe.master if is_master else "") or keeping.recipe.weights]


def _groups(size: int, most: int) -> list[int]:
    """So many bytes in blocks of at most `most`."""
    return [most] * (size // most) + [size % most]
