"""One vector from the outputs of a recurrent net at every position: last, mean, sum, largest, or by attention."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import side_by_side
from archcalc.reference.recurrent_layers import Made


class AttentionPooling(nn.Module):
    """Σ α·h with α = softmax over the positions of vᵀh, or of vᵀtanh(W·h + b); a v for each head."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        within = settings["width"]
        if within:
            self.inner = nn.Linear(width, within, bias=settings["bias"])
        self.scores = nn.Linear(within or width, settings["heads"], bias=False)

    def forward(self, states: Tensor) -> Tensor:
        keys = states
        if hasattr(self, "inner"):
            keys = torch.tanh(self.inner(states))
        weights = self.scores(keys).softmax(dim=1)
        return (weights.transpose(1, 2) @ states).flatten(1)


def attention_in(pools: list[Config]) -> Config | None:
    return next((pool for pool in pools if pool["kind"] == "attention"), None)


def width_of(pools: list[Config], width: int) -> int:
    """Of all that is pooled, side by side; without pooling, of one position's output."""
    times = [{"attention": pool["heads"]}.get(pool["kind"], 1) for pool in pools]
    return width * (sum(times) or 1)


def pooled(made: Made, pools: list[Config], attention: AttentionPooling | None) -> Tensor:
    return side_by_side([_one(made, pool["kind"], attention) for pool in pools])


def _one(made: Made, kind: str, attention: AttentionPooling | None) -> Tensor:
    if kind == "attention" and attention is not None:
        return attention(made.outputs)
    if kind == "max":
        return made.outputs.max(dim=1).values
    if kind == "mean":
        return made.outputs.mean(dim=1)
    if kind == "sum":
        return made.outputs.sum(dim=1)
    return {"last": made.top}.get(kind, made.outputs)
