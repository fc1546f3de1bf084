"""Memory that CUDA kernels compute in and do not return: no trace of PyTorch's ops shows it.

    PRODUCTS                       bytes of cuBLAS's workspace, allocated once
    of_attention(op, plan, width)  bytes of each tensor that flash attention's backward pass makes for itself

Source: PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp, getChosenWorkspaceSize: two pieces of 4,096 KiB and eight of
16; 32 MiB on Hopper. aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_bwd: dq_accum, softmax_d,
dk_expanded and dv_expanded.
"""

from __future__ import annotations

from archcalc.core.ir import Op
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES

KIB = 1024
PRODUCTS = (2 * 4096 + 8 * 16) * KIB
ROWS, WIDTH = 128, 32  # what positions and widths of heads are rounded up to


def of_attention(op: Op, plan: Plan, width: int) -> list[int]:
    """fp32 sums of the queries' gradients, a number for each row, and gradients of keys and values for every head."""
    query, key, *_ = op.inputs
    _, head, seq, each = query.dims
    rows = plan.size(query) // int(each.size)  # of all heads
    rounded = rows * _up(int(seq.size), ROWS) // int(seq.size)
    made = [rounded * _up(int(each.size), WIDTH) * BYTES["fp32"], rounded * BYTES["fp32"]]
    if key.dims[1] == head:
        return made
    return [*made, *[plan.size(query) * width] * 2]


def _up(number: int, step: int) -> int:
    return -(-number // step) * step
