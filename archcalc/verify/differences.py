"""Conventions in which frameworks differ, and the one that archcalc and its reference follow; never a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from archcalc.archs.recurrent.stack import ResolvedStack as RecurrentStack
from archcalc.archs.transformer.nodes import Norm
from archcalc.archs.transformer.parts.mla import LatentPart
from archcalc.archs.transformer.positions.encoding import Encoding
from archcalc.layers.attention import Attention, Heads
from archcalc.layers.delta import Delta
from archcalc.layers.ffn import Ffn
from archcalc.layers.indexer import Indexer
from archcalc.layers.kernel import KernelAttention
from archcalc.layers.lightning import Lightning
from archcalc.layers.moe import Mixture
from archcalc.layers.qk_norm import QKNorm
from archcalc.layers.rglru import RecurrentUnit
from archcalc.layers.ssd import Mamba2
from archcalc.layers.ssm import Mamba
from archcalc.spec.resolved import every_part


def differences(resolved: Any) -> Iterator[str]:
    """The conventions that apply to this model: those of which a part of it is reminded."""
    parts = list(every_part(resolved))
    return (text for is_met, text in DIFFERENCES if any(map(is_met, parts)))


def _is_norm(kind: str) -> Callable[[Any], bool]:
    return lambda part: isinstance(part, Norm | QKNorm) and part.kind == kind


def _is_position(*kinds: str) -> Callable[[Any], bool]:
    return lambda part: isinstance(part, Encoding) and part.kind in kinds


def _is(*classes: type) -> Callable[[Any], bool]:
    return lambda part: isinstance(part, classes)


def _bends_scores(part: Any) -> bool:
    return _is_position("alibi")(part) or (isinstance(part, Attention) and (part.sinks or part.softcap))


def _has_two_widths(part: Any) -> bool:
    """Latent attention, or attention with its own value width; Gated DeltaNet has one too, but no flash kernel."""
    return isinstance(part, LatentPart) or (isinstance(part, Heads) and part.v_dim is not None)


def _hands_on_states(part: Any) -> bool:
    is_causal_kernel = isinstance(part, KernelAttention) and part.sight.causal
    return isinstance(part, Mamba | Mamba2 | Delta | Lightning) or is_causal_kernel


DIFFERENCES: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (
        lambda part: any(getattr(part, name, 0) for name in ("dropout", "weights_dropout")),
        "dropout: on a CPU nn.Dropout saves a mask in the dtype of the activations; the reference calls "
        "native_dropout, which saves one byte per element, as on a GPU",
    ),
    (
        _is_norm("rms"),
        "RMSNorm: as nn.RMSNorm computes it, step by step; below fp32 it saves two fp32 tensors, fused kernels do not",
    ),
    (
        _is_norm("layer"),
        "LayerNorm in bf16: its statistics are saved in fp32, as on a GPU; on a CPU they are bf16",
    ),
    (
        lambda part: isinstance(part, Ffn) and part.act == "xielu",
        "xIELU: one kernel that saves its input, as its authors' does; separate PyTorch ops would save more",
    ),
    (
        _is(RecurrentStack),
        "recurrent layers: the reference steps through the sequence; FlopCounterMode counts no FLOPs of nn.LSTM, nn.GRU"
        " and nn.RNN on a CPU",
    ),
    (
        _is_position("relative", "disentangled", "shaw", "transformer-xl"),
        "flash attention: no kernel adds a learned table to the scores, so attention with relative, disentangled, "
        "Shaw's or Transformer-XL's positions stays eager",
    ),
    (
        _bends_scores,
        "flash attention: PyTorch's own kernel has no ALiBi, sinks or softcap, as FlashAttention's has; the reference "
        "implements that one in PyTorch and saves the same",
    ),
    (
        _has_two_widths,
        "flash attention: PyTorch's own kernel needs keys and values of equal width; the reference implements one that "
        "takes two, as FlashAttention 3 and cuDNN do",
    ),
    (
        _is(Indexer),
        "flash attention with an indexer: PyTorch has no kernel for selected positions; the reference implements "
        "one that takes their indices, saves them, and computes all scores",
    ),
    (
        _is(Mixture),
        "experts: on the meta device all experts get equally many tokens, which changes no count",
    ),
    (
        _hands_on_states,
        "states along the sequence: the reference saves their inputs and recomputes the inside, as kernels do; "
        "PyTorch's own loops would save every state",
    ),
    (
        _is(Mamba, Mamba2, Delta, RecurrentUnit),
        "depthwise convolutions: the reference implements their gradients, because FlopCounterMode counts those of "
        "their weights as if the channels were not separate",
    ),
)
