"""What frameworks do differently, and which way archcalc and its reference go: said, never hidden by a tolerance."""

from __future__ import annotations

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
    return words.count("'dropout': ") > words.count("'dropout': 0.0")


def _is_causal_kernel(words: str) -> bool:
    return _has(*(f"'feature': '{name}'" for name in ("poly2", "elu", "relu")))(words) and "'causal': True" in words


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
        lambda words: words.startswith("recurrent"),
        "recurrent layers: the reference steps through the sequence; nn.LSTM and its kin count no FLOPs on a CPU",
    ),
    (
        _has("'kind': 'alibi'", "'kind': 'relative'"),
        "flash attention: PyTorch's kernel adds nothing to the scores, so ALiBi and relative positions stay eager",
    ),
    (
        _has("'sinks': True", "'softcap': True"),
        "flash attention: PyTorch's kernel has no sinks and no softcap, so that attention stays eager",
    ),
    (
        _has("'type': 'LatentPart'"),
        "flash attention: PyTorch's kernel wants keys and values of one width; a kernel that takes latent attention's "
        "two is counted, but only eager attention is compared",
    ),
    (
        _has("'type': 'MoePart'"),
        "experts: on the meta device every expert is given as many tokens as any other; how many changes no count",
    ),
    (
        _is_causal_kernel,
        "causal kernel attention: archcalc counts what a fused kernel keeps; PyTorch's loop over positions keeps every "
        "state, so that saved bytes are not compared",
    ),
    (
        _has("'MambaPart'", "'RglruPart'"),
        "state-space layers: the reference steps through the sequence and keeps every state, as no kernel would, and "
        "FlopCounterMode counts too much in the backward pass of their convolution: only the forward pass is compared",
    ),
)
