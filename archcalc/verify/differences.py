"""What frameworks do differently, and which way archcalc and its reference go: said, never hidden by a tolerance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Config = dict[str, Any]


def differences(config: Config, family: str) -> Iterator[str]:
    """Those that matter for this model."""
    words = f"{family} {config}"
    return (said for matters, said in DIFFERENCES if matters(words))


def _has(*fragments: str) -> Callable[[str], bool]:
    return lambda words: any(fragment in words for fragment in fragments)


def _has_dropout(words: str) -> bool:
    return words.count("dropout': ") > words.count("dropout': 0.0")


def _is_causal_kernel(words: str) -> bool:
    return _has(*(f"'feature': '{name}'" for name in ("poly2", "elu", "relu")))(words) and "'causal': True" in words


def _has_two_widths(words: str) -> bool:
    """Latent attention, or attention that says how wide its values are; a delta net says so too, and has no kernel."""
    return "'LatentPart'" in words or re.search(r"'v_dim': \d+, 'out_norm'", words) is not None


DIFFERENCES: tuple[tuple[Callable[[str], bool], str], ...] = (
    (
        _has_dropout,
        "dropout: on a CPU nn.Dropout keeps a mask as wide as the activations; the reference calls native_dropout, "
        "which keeps the one byte an element that a GPU keeps",
    ),
    (
        _has("'kind': 'rms'"),
        "RMSNorm: as nn.RMSNorm computes it, step by step; below fp32 it keeps two fp32 tensors, fused kernels do not",
    ),
    (
        _has("'kind': 'layer'"),
        "LayerNorm in bf16: its statistics are kept in fp32, as on a GPU; on a CPU they are bf16",
    ),
    (
        _has("'act': 'xielu'"),
        "xIELU: one kernel that keeps what goes in, as its authors' does; PyTorch's steps one by one would keep more",
    ),
    (
        lambda words: words.startswith("recurrent"),
        "recurrent layers: the reference steps through the sequence; nn.LSTM and its kin count no FLOPs on a CPU",
    ),
    (
        _has("'kind': 'relative'", "'kind': 'disentangled'"),
        "flash attention: no kernel adds a learned table to the scores, so attention with relative or disentangled "
        "positions stays eager",
    ),
    (
        _has("'kind': 'alibi'", "'sinks': True", "'softcap': True"),
        "flash attention: PyTorch's own kernel has no ALiBi, sinks or softcap, as FlashAttention's has; the reference "
        "writes that one out and keeps what it keeps",
    ),
    (
        _has_two_widths,
        "flash attention: PyTorch's own kernel wants keys and values of one width; the reference writes one out that "
        "takes two, as FlashAttention 3 and cuDNN do",
    ),
    (
        _has("'type': 'Indexer'"),
        "flash attention behind an indexer: PyTorch has no kernel that looks at chosen positions alone; the reference "
        "writes one out that is told their places, keeps these, and computes all scores",
    ),
    (
        _has("'type': 'MoePart'"),
        "experts: on the meta device every expert is given as many tokens as any other; how many changes no count",
    ),
    (
        lambda words: _is_causal_kernel(words) or _has("'MambaPart'", "'DeltaPart'", "'LightningPart'")(words),
        "states along the sequence: the reference keeps what goes into them and computes the inside again, as kernels "
        "do; PyTorch's own loops would keep every state",
    ),
    (
        _has("'MambaPart'", "'DeltaPart'", "'RglruPart'"),
        "convolutions by channel: the reference writes their gradients out, because FlopCounterMode counts those of "
        "their weights as if the channels were not apart",
    ),
)
