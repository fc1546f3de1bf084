"""RMS norms and layer norms as libraries write them."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.styles.steps import WIDE, cast_back, widened


def fused(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """One kernel. Source: PyTorch, aten._fused_rms_norm, which nn.RMSNorm calls on CUDA since version 2.8."""
    return m.record("fused_rms_norm", x, *weights)


def upcast(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """Source: transformers, LlamaRMSNorm.forward; torchtitan until March 2025, RMSNorm.forward."""
    wide = widened(m, x)
    return _weighed(m, cast_back(m, m.record("multiply", wide, _inverse_root(m, wide)), x), weights)


def upcast_product(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """The product with the weight is fp32 too, and cast back. Source: transformers, Olmo2RMSNorm.forward."""
    wide = widened(m, x)
    return cast_back(m, _weighed(m, m.record("multiply", wide, _inverse_root(m, wide)), weights), x)


def upcast_statistics(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """Only the mean square is computed of an fp32 copy. Source: transformers, T5LayerNorm.forward."""
    inverse = _inverse_root(m, widened(m, x))
    found = m.record("multiply", x, inverse, role=WIDE if m.style.narrow else x.role)
    return _weighed(m, cast_back(m, found, x), weights)


def in_16_bits(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """Source: litgpt until October 2023, RMSNorm.forward."""
    return _weighed(m, m.record("multiply", x, _inverse_root(m, x)), weights)


def upcast_weight(m: Module, x: Tensor, *weights: Tensor) -> Tensor:
    """The product with 1 + weight is fp32 too. Source: transformers, GemmaRMSNorm.forward."""
    wide = widened(m, x)
    found = m.record("multiply", wide, _inverse_root(m, wide))
    for weight in weights:
        found = m.record("multiply", found, m.record("add", widened(m, weight), role=WIDE))
    return cast_back(m, found, x)


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


def _weighed(m: Module, found: Tensor, weights: tuple[Tensor, ...]) -> Tensor:
    for weight in weights:
        found = m.record("multiply", found, weight)
    return found


def _inverse_root(m: Module, x: Tensor) -> Tensor:
    """1 / √(mean of squares + ε)."""
    mean = m.record("mean", m.record("square", x), to=x.axes[:-1], over=x.axes[-1])
    return m.record("inverse_root", m.record("add", mean))
