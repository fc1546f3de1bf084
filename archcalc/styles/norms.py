"""RMS norms and layer norms as libraries write them."""

from __future__ import annotations

from functools import partial

from archcalc.core.ir import Module, Tensor
from archcalc.styles.steps import WIDE, cast_back, widened


def fused(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """One kernel. Source: PyTorch, aten._fused_rms_norm, which nn.RMSNorm calls on CUDA since version 2.8."""
    return m.record("fused_rms_norm", x, *weights)


def _in_steps(
    m: Module,
    x: Tensor,
    *weights: Tensor,
    statistics: bool = True,
    values: bool = True,
    product: bool = False,
    one_more: bool = False,
) -> Tensor:
    """x / √(mean of squares + ε) · weight, op by op. In fp32 are the mean square (`statistics`), what is multiplied by
    the root (`values`) and the product with the weight (`product`), to which 1 is added (`one_more`)."""
    wide = widened(m, x) if statistics else x
    inverse = _inverse_root(m, wide)
    role = WIDE if m.style.narrow and statistics else ""
    found = m.record("multiply", wide if values else x, inverse, role=role)
    found = found if product else cast_back(m, found, x)
    for weight in weights:
        factor = m.record("add", widened(m, weight), role=WIDE) if one_more else weight
        found = m.record("multiply", found, factor)
    return cast_back(m, found, x) if product else found


upcast = _in_steps  # transformers, LlamaRMSNorm.forward; torchtitan until March 2025, RMSNorm.forward
upcast_product = partial(_in_steps, product=True)  # transformers, Olmo2RMSNorm.forward
upcast_statistics = partial(_in_steps, values=False)  # transformers, T5LayerNorm.forward
in_16_bits = partial(_in_steps, statistics=False)  # litgpt until October 2023, RMSNorm.forward
upcast_weight = partial(_in_steps, product=True, one_more=True)  # transformers, GemmaRMSNorm.forward


def layer_norm_in_steps(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """In Python and in fp32, with the mean subtracted twice. Source: transformers, CohereLayerNorm.forward."""
    wide = widened(m, x)
    middle = m.record("mean", wide, to=x.axes[:-1], over=x.axes[-1])
    inverse = _inverse_root(m, m.record("subtract", wide, middle))
    found = m.record("multiply", m.record("subtract", wide, middle), inverse)
    for weight in weights:
        found = m.record("multiply", found, widened(m, weight))
    return cast_back(m, found, x)


def layer_norm_in_fp32(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """PyTorch's kernel on an fp32 copy, cast back. Source: transformers, OlmoLayerNorm.forward."""
    return cast_back(m, m.record("layer_norm", widened(m, x), *weights), x)


def _inverse_root(m: Module, x: Tensor) -> Tensor:
    """1 / √(mean of squares + ε)."""
    mean = m.record("mean", m.record("square", x), to=x.axes[:-1], over=x.axes[-1])
    return m.record("inverse_root", m.record("add", mean))
