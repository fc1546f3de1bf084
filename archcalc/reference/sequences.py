"""Layers that make sequences, read them or change their order: positions stand before features."""

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.embeddings import Positions
from archcalc.reference.recurrent_layers import Layers


class Embedding(nn.Module):
    def __init__(self, config: Config, build: Any) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config["vocab"], config["out"]))
        nn.init.normal_(self.weight)

    def forward(self, x: Tensor, signals: Any) -> Tensor:
        return F.embedding(x, self.weight)


class Recurrent(Layers):
    """From zeros; the outputs at each position, or the last states of the top layer."""

    def __init__(self, config: Config, build: Any) -> None:
        super().__init__(config["stack"])
        self.give = config["give"]

    def forward(self, x: Tensor, signals: Any) -> Tensor:  # type: ignore[override]
        made = super().forward(x, None, None)
        return made.top if self.give == "last" else made.outputs


class Position(Positions):
    def __init__(self, config: Config, build: Any) -> None:
        super().__init__({**config, "offset": 0}, config["width"])

    def forward(self, x: Tensor, signals: Any) -> Tensor:
        return super().forward(x, 0)


class Rearranged(nn.Module):
    """The same numbers in another order or shape."""

    def __init__(self, config: Config, build: Any) -> None:
        super().__init__()
        self.config = config

    def forward(self, x: Tensor, signals: Any) -> Tensor:
        found: Tensor = getattr(self, self.config["type"])(x)
        return found

    def to_sequence(self, x: Tensor) -> Tensor:
        side = self.config["side"]
        return x.flatten(2).transpose(1, 2) if side is None else x.movedim(side + 2, 1).flatten(2)

    def to_map(self, x: Tensor) -> Tensor:
        x = x.transpose(1, 2).contiguous()
        return x.unflatten(2, self.config["sides"]) if self.config["sides"] else x

    def transpose(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], x.shape[1] // self.config["neighbours"], -1)


OF_SEQUENCES: dict[str, Any] = {
    "embedding": Embedding,
    "recurrent": Recurrent,
    "position": Position,
    **dict.fromkeys(("to_sequence", "to_map", "transpose", "merge"), Rearranged),
}
