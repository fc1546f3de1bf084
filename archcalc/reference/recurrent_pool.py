"""One vector from the outputs of a recurrent net at every position: last, mean, sum, largest, or by attention."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.recurrent_layers import Made


class AttentionPooling(nn.Module):
    """Σ α·h with α = softmax over the positions of vᵀh, or of vᵀtanh(W·h + b); a v for each head."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        within = settings["width"]
        self.inner = nn.Linear(width, within, bias=settings["bias"]) if within else None
        self.scores = nn.Linear(within or width, settings["heads"], bias=False)

    def forward(self, states: Tensor) -> Tensor:
        keys = torch.tanh(self.inner(states)) if self.inner is not None else states
        weights = self.scores(keys).softmax(dim=1)
        return (weights.transpose(1, 2) @ states).flatten(1)


def attention_in(pools: list[Config]) -> Config | None:
    return next((pool for pool in pools if pool["kind"] == "attention"), None)


def width_of(pools: list[Config], width: int) -> int:
    """Of all that is pooled, side by side; without pooling, of one position's output."""
    return sum(width * (pool["heads"] if pool["kind"] == "attention" else 1) for pool in pools) or width


def pooled(made: Made, pools: list[Config], attention: AttentionPooling | None) -> Tensor:
    every = [_one(made, pool["kind"], attention) for pool in pools]
    return every[0] if len(every) == 1 else torch.cat(every, dim=-1)


def _one(made: Made, kind: str, attention: AttentionPooling | None) -> Tensor:
    if kind == "attention" and attention is not None:
        return attention(made.outputs)
    if kind == "max":
        return made.outputs.max(dim=1).values
    if kind in ("mean", "sum"):
        return made.outputs.mean(dim=1) if kind == "mean" else made.outputs.sum(dim=1)
    return made.top if kind == "last" else made.outputs
