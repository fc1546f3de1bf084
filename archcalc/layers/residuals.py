"""Attention to residuals (Kimi K3): what a part reads is a weighted sum of what earlier groups of blocks left.

Their weights follow from scores: the product of a vector with each of them behind a norm. Parameters are counted; the
work, a few products of vectors for each part, and what is kept of earlier groups are not.
Source: vLLM, models/kimi_k3/nvidia/model.py, KimiDecoderLayer and KimiLinearModel.
"""

from __future__ import annotations

from collections.abc import Iterable

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Role

NOT_COUNTED = Assumption(
    Topic.COST,
    "attention to residuals: its parameters are counted; its work, and what it keeps of earlier blocks, are not",
)


def keep_weights(m: Module, words: Iterable[str], d_model: Dim) -> None:
    """Of each part that reads such a sum, and of the output."""
    m.words.work_notes.append(NOT_COUNTED)
    for word in words:
        place = m[f"{word}_residuals"]
        place["norm"].param("weight", d_model, role=Role.NORM)
        place.param("weight", Dim.of("score", 1), d_model, role=Role.VECTORS)
