"""Memory that CUDA kernels compute in and do not return, which no trace of PyTorch's ops shows; and under context
parallelism the keys and values of all GPUs, which attention gathers.

Source: PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp, getChosenWorkspaceSize: two pieces of 4,096 KiB and eight of
16; 32 MiB on Hopper. aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_bwd: dq_accum, softmax_d,
dk_expanded and dv_expanded. torch/distributed/tensor/experimental: context_parallel, which gathers by default.
"""

from __future__ import annotations

from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.simulate.schedule import Schedule

KIB = 1024
PRODUCTS = (2 * 4096 + 8 * 16) * KIB  # bytes of cuBLAS's workspace, allocated once
ROWS, WIDTH = 128, 32  # what positions and widths of heads are rounded up to


def kernel_workspaces(schedule: Schedule, plan: Plan, width: int) -> Schedule:
    """Of matrix products, and of flash attention's backward pass: fp32 sums of the queries' gradients, a number for
    each row, and gradients of keys and values for every head. `width` is the bytes of an activation."""
    schedule.workspace = PRODUCTS
    for step in schedule.steps():
        if step.op.traits.attention_kernel:
            query, key, *_ = step.op.inputs
            _, head, seq, each = query.dims
            rows = plan.size(query) // int(each.size)  # of all heads
            positions, head_width = -(-int(seq.size) // ROWS) * ROWS, -(-int(each.size) // WIDTH) * WIDTH
            rounded = rows * positions // int(seq.size)
            step.gradient_scratch += [rounded * head_width * BYTES["fp32"], rounded * BYTES["fp32"]]
            if key.dims[1] != head:
                step.gradient_scratch += [plan.size(query) * width] * 2
    return schedule


def gather_keys(schedule: Schedule, gpus: int) -> Schedule:
    """They exist while attention computes; going back, so do the gradients of all of them."""
    for step in schedule.steps():
        if step.op.traits.attention_kernel:
            step.gathered_keys = gpus * sum(schedule.bytes[cell] for cell in step.reads[1:3])
    return schedule
