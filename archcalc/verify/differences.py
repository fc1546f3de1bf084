"""What frameworks do differently, and which way archcalc and its reference go. Nothing here is hidden by a tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def differences(config: dict[str, Any], family: str) -> Iterator[str]:
    """Those that matter for this model."""
    words = str(config)
    for needed, said in DIFFERENCES:
        if needed(config, family, words):
            yield said


def _always(config: dict[str, Any], family: str, words: str) -> bool:
    return True


DIFFERENCES = (
    (
        lambda config, family, words: "'dropout': 0.1" in words or _has_dropout(config),
        "dropout: on a CPU nn.Dropout keeps a mask as wide as the activations; the reference calls native_dropout, which "
        "keeps the one byte an element that a GPU keeps",
    ),
    (
        lambda config, family, words: "'kind': 'rms'" in words,
        "RMSNorm: as nn.RMSNorm computes it step by step; below fp32 it keeps two fp32 tensors, which fused kernels do not",
    ),
    (
        lambda config, family, words: "'kind': 'layer'" in words,
        "LayerNorm in bf16: its statistics are kept in fp32, as on a GPU; on a CPU they are bf16",
    ),
    (
        lambda config, family, words: family == "recurrent",
        "recurrent layers: the reference steps through the sequence; nn.LSTM and its kin count no FLOPs on a CPU",
    ),
    (
        lambda config, family, words: "'kind': 'alibi'" in words or "'kind': 'relative'" in words,
        "flash attention: PyTorch's kernel adds nothing to the scores, so ALiBi and relative positions stay eager",
    ),
    (
        lambda config, family, words: "'type': 'LatentPart'" in words,
        "flash attention: PyTorch's kernel wants keys and values of one width; a kernel that takes latent attention's "
        "two is counted, but only eager attention is compared",
    ),
    (
        lambda config, family, words: "'type': 'MoePart'" in words,
        "experts: on the meta device every expert is given as many tokens as any other; how many changes no count",
    ),
    (
        lambda config, family, words: _attends_by_kernel(words) and "'causal': True" in words,
        "causal kernel attention: archcalc counts what a fused kernel keeps; PyTorch's loop over positions keeps every "
        "state, so that saved bytes are not compared",
    ),
    (
        lambda config, family, words: "'MambaPart'" in words or "'RglruPart'" in words,
        "state-space layers: the reference steps through the sequence and keeps every state, as no kernel would, and "
        "FlopCounterMode counts too much in the backward pass of their convolution: only the forward pass is compared",
    ),
    (
        lambda config, family, words: "'sinks': True" in words or "'softcap': True" in words,
        "flash attention: PyTorch's kernel has no sinks and no softcap, so that attention stays eager",
    ),
)


def _attends_by_kernel(words: str) -> bool:
    return any(f"'feature': '{feature}'" in words for feature in ("poly2", "elu", "relu"))


def _has_dropout(config: Any) -> bool:
    if isinstance(config, dict):
        return bool(config.get("dropout")) or any(map(_has_dropout, config.values()))
    return isinstance(config, list) and any(map(_has_dropout, config))
