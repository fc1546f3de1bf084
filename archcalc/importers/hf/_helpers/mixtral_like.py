"""Decoders built like Mixtral: MoE in every block."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config, Fields


def mixtral_like(c: Config, task: str, moe: Fields, **more: Any) -> Fields:
    blocks = stack(["attention moe"] * c.size("num_hidden_layers"))
    return decoder(c, task, ffn=None, moe=moe, decoder=blocks, **more)
