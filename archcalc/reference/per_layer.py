"""Per-layer embeddings in plain PyTorch: a table with a piece of each row for every block, and what a block adds."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, Weight, add, make_norm, run


def blocks_with(word: str, items: list[Config]) -> int:
    """How many blocks of a pattern have the part of this name."""
    number = 0
    for item in items:
        if item["type"] == "line":
            has = any(word in words.split("+") for words in item["words"])
            number += item["times"] * item.get("calls", 1) * has
        else:
            number += item["times"] * blocks_with(word, item["items"])
    return number


class PerLayerTable(Weight):
    """The vectors of all blocks: rows of the table, and a normed projection of the embedded tokens."""

    def __init__(self, part: Config, stack: Config) -> None:
        layer = part["layer"]
        blocks = blocks_with(part["name"], stack["items"])
        super().__init__(layer["vocab"] or stack["vocab"], blocks * layer["width"])
        self.width, self.fewer = layer["width"], layer["fewer"]
        self.projection = nn.Linear(stack["d_model"], blocks * self.width, bias=False)
        add(self, "norm", make_norm({"kind": layer["norm"], "affine": True, "bias": True}, self.width))

    def forward(self, ids: Tensor, x: Tensor) -> Tensor:
        """(batch, positions, blocks, width)."""
        projected = (self.projection(x) * x.shape[-1] ** -0.5).unflatten(-1, (-1, self.width))
        if self.fewer:
            ids = torch.where(ids < self.weight.shape[0], ids, torch.zeros_like(ids))
        rows = nn.functional.embedding(ids, self.weight).unflatten(-1, (-1, self.width))
        vectors: Tensor = (run(self, "norm", projected) + rows) * 2**-0.5
        return vectors


class PerLayer(nn.Module):
    """out(act(gate(x)) ∗ vector), by the vector of the block that runs."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        layer = part["layer"]
        self.name, self.act = part["name"], ACTIVATIONS[layer["act"]]
        self.gate = nn.Linear(d_model, layer["width"], bias=False)
        self.out = nn.Linear(layer["width"], d_model, bias=False)

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        answer: Tensor = self.out(self.act(self.gate(x)) * given[f"vectors {self.name}"])
        return answer


def words_of(stack: Config) -> list[str]:
    """The parts that read such vectors."""
    return [word for word, part in stack["parts"].items() if part["type"] == "per_layer"]


def add_tables(model: nn.Module, side: str, stack: Config) -> None:
    """A table for each of them; `side` is what the stack's own embedding is called."""
    for word in words_of(stack):
        model.add_module(_named(side, word), PerLayerTable(stack["parts"][word], stack))


def vectors_of(model: nn.Module, side: str, stack: Config, given: Any, x: Tensor) -> dict[str, Tensor]:
    """Of all blocks, by the names of the parts that read them. Positions of other parts stand before the tokens, and
    have a token of their own."""
    words = words_of(stack)
    if words and isinstance(given, tuple):
        given = nn.functional.pad(given[-1], (x.shape[1] - given[-1].shape[1], 0))
    return {word: model.get_submodule(_named(side, word))(given, x) for word in words}


def _named(side: str, word: str) -> str:
    return f"{side.removesuffix('embedding')}{word}_embedding"


def of_block(vectors: dict[str, Tensor], words: list[str], turns: dict[str, int]) -> dict[str, Tensor]:
    """A block's own vectors; `turns` counts the blocks that had some before."""
    found = {}
    for name in (name for name in vectors if any(name in word.split("+") for word in words)):
        found[f"vectors {name}"] = vectors[name][:, :, turns.get(name, 0)]
        turns[name] = turns.get(name, 0) + 1
    return found
