"""How a recurrent decoder attends to its encoder: dot, general, additive, concat and location scores."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import run, weight_if


class Scores(nn.Module):
    """Attention scores of the decoder's state with the encoder's states, and the context vector."""

    def __init__(self, settings: Config) -> None:
        super().__init__()
        self.settings = settings
        widths = {"general": settings["key"], "additive": settings["width"]}
        if settings["score"] in widths:
            self.query = nn.Linear(settings["query"], widths[settings["score"]], bias=settings["bias"])
        if settings["score"] == "concat":
            self.pair = nn.Linear(settings["key"] + settings["query"], settings["width"], bias=settings["bias"])
        if settings["score"] in ("additive", "concat"):
            self.scores: nn.Module = Weighing(settings)
        if settings["score"] == "location":
            self.scores = nn.Linear(settings["query"], settings["length"], bias=settings["bias"])

    def forward(self, query: Tensor, keys: Tensor, states: Tensor) -> Tensor:
        weights = self._scores(query, keys).softmax(dim=-1)
        return (weights[:, None] @ states)[:, 0]

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        if self.settings["score"] == "additive":
            return self.scores(keys + self.query(query)[:, None])
        if self.settings["score"] == "concat":
            return self.scores(self.pair(torch.cat((keys, query[:, None].expand(-1, keys.shape[1], -1)), dim=-1)))
        if self.settings["score"] == "location":
            return self.scores(query)
        return (keys @ run(self, "query", query)[:, :, None])[..., 0]


class Weighing(nn.Module):
    """vᵀtanh(…), where v may be kept at the length of a gain."""

    def __init__(self, settings: Config) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.zeros(settings["width"]))
        self.bias = weight_if(settings["normed"], settings["width"])
        self.gain = weight_if(settings["normed"], 1, start=torch.ones)
        self.offset = weight_if(settings["bias"], 1)

    def forward(self, inner: Tensor) -> Tensor:
        v: Tensor = self.v
        if self.gain is not None:
            inner = inner + self.bias
            v = v / v.square().sum().sqrt() * self.gain
        return nn.functional.linear(torch.tanh(inner), v[None], self.offset)[..., 0]
