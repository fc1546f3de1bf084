"""Multi-token prediction in plain PyTorch: blocks after the last one that each predict one token further ahead."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.block import Block
from archcalc.reference.constants import Constants
from archcalc.reference.layers import add, listed, make_norm, one_or_list, run
from archcalc.reference.parts import attentions_of
from archcalc.reference.stack import add_position_table, run_block


class Further(nn.Module):
    """norm(block(projection([norm(hidden); norm(token)]))), and logits by the model's own head or another."""

    def __init__(self, config: Config, stack: Config, options: dict[str, str]) -> None:
        super().__init__()
        self.options, width, settings, norm = options, stack["d_model"], config["head"], stack["norm"]
        if settings["mtp"]["own_tables"]:
            self.tokens = nn.Embedding(stack["vocab"], width)
        for name in ("hidden_norm", "token_norm", "norm"):
            add(self, name, make_norm(norm, width))
        self.projection = nn.Linear(2 * width, width, bias=False)
        parts = [stack["parts"][word] for word in _last(stack["items"])["words"]]
        self.attentions = attentions_of(parts)
        self.block = Block(parts, stack, width, options)
        add_position_table(self, self.attentions, width)
        if settings["mtp"]["own_tables"] and settings["kind"] != "tied":
            self.head = nn.Linear(width, config["head_vocab"], bias=False)

    def forward(self, x: Tensor, ids: Tensor, table: Tensor, head: Tensor, made: Any) -> tuple[Tensor, Tensor]:
        """What the next one reads, and logits. `made` are the constants that all of them share."""
        if hasattr(self, "tokens"):
            table = self.tokens.weight
        tokens = nn.functional.embedding(ids, table)
        pair = torch.cat((run(self, "hidden_norm", x), run(self, "token_norm", tokens)), dim=-1)
        x = self.projection(pair)
        constants = Constants(self, x, 0, self.options, made)
        for part in self.attentions:
            constants.add(part)
        x = run(self, "norm", run_block(self.block, list(constants.given), None, x, list(constants.given.values())))
        if hasattr(self, "head"):
            return x, self.head(x)
        if hasattr(self, "tokens"):
            head = self.tokens.weight
        return x, nn.functional.linear(x, head)


def make_further(config: Config, stack: Config, options: dict[str, str]) -> nn.Module | None:
    """One, or a list of them."""
    settings = config["head"]["mtp"]
    if not settings:
        return None
    made = [Further(config, stack, options) for _ in range(settings["blocks"])]
    return one_or_list(made)


def predict_further(made: nn.Module, x: Tensor, ids: Tensor, table: Tensor, head: Tensor) -> list[Tensor]:
    """The logits of each: every one reads the token behind the one that the one before it read."""
    found, constants = [], dict[Any, Any]()
    for place, one in enumerate(listed(made), start=1):
        x, logits = one(x, ids.roll(-place, dims=1), table, head, constants)
        found.append(logits)
    return found


def _last(items: list[Config]) -> Config:
    if items[-1]["type"] == "line":
        return items[-1]
    return _last(items[-1]["items"])
