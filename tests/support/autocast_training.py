"""A transformers class trained under torch.autocast, with every storage that is made and dropped.

It runs on fake CPU tensors, so that PyTorch's own autocast decides what is cast and which copies of weights are kept.
CUDA's list of ops in fp32 is longer than that of CPUs: what is missing is registered here, as CUDA has it
(AT_FORALL_FP32 and AT_FORALL_FP32_SET_OPT_DTYPE in aten/src/ATen/autocast_mode.h). Kernels of attention are a GPU's.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from archcalc.verify.hf import as_on_a_gpu
from archcalc.verify.hf.traced import Recorder, Trace, recorded
from archcalc.verify.hf.training import Training, _move

NARROW = torch.bfloat16
IN_FP32 = (
    *("pow.Tensor_Scalar", "rsqrt.default", "layer_norm.default", "exp.default", "softplus.default"),
    *("softmax.int", "log_softmax.int", "sum.default", "sum.dim_IntList", "cumsum.default"),
)


@dataclass(frozen=True)
class AutocastTraining(Training):
    """`base` is the number format that weights are loaded in; adapters are fp32 then, as peft makes them."""

    device: str = "cpu"
    base: torch.dtype = torch.float32

    @cached_property
    def on_meta(self) -> Any:
        """Built before tensors are fake: those cannot change their number format."""
        plain = self._built().train().to(self.base)
        made = self._adapted(plain)
        if self.setting.recompute:
            plain.gradient_checkpointing_enable({"use_reentrant": False})
        return made

    @cached_property
    def model(self) -> Any:
        _move(self.on_meta, self.device)
        return self.on_meta

    def _forward(self) -> Any:
        with torch.autocast(self.device, dtype=NARROW):
            return super()._forward()


def trace(training: AutocastTraining) -> Trace:
    """Two steps."""
    assert training.on_meta
    with ExitStack() as stack:
        stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        stack.enter_context(_lists_of_cuda())
        stack.enter_context(patch.object(as_on_a_gpu, "attention", partial(_attention, as_on_a_gpu.attention)))
        return recorded(training, Recorder(training, in_place=True))


@contextmanager
def _lists_of_cuda() -> Iterator[None]:
    made: Any = torch.library.Library  # which PyTorch leaves untyped
    library = made("aten", "IMPL", "AutocastCPU")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in IN_FP32:
            kind, overload = name.split(".")
            library.impl(
                name.removesuffix(".default"), partial(_in_fp32, getattr(getattr(torch.ops.aten, kind), overload))
            )
    try:
        yield
    finally:
        library._destroy()


def _in_fp32(op: Any, *given: Any, **named: Any) -> Any:
    with torch.autocast("cpu", enabled=False):
        return op(*map(_widened, given), **{name: _widened(value) for name, value in named.items()})


def _widened(value: Any) -> Any:
    return value.float() if isinstance(value, Tensor) and value.dtype == NARROW else value


def _attention(
    kernel: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *more: Any, **named: Any
) -> Any:
    """Autocast casts what scaled_dot_product_attention is given; named as there."""
    mask = named.pop("attn_mask", mask)
    narrow = [
        one if one is None or not one.is_floating_point() else one.to(NARROW) for one in (query, key, value, mask)
    ]
    return kernel(*narrow, *more, **named)
