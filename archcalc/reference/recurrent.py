"""Recurrent nets in plain PyTorch: one stack, or an encoder and a decoder that may attend to it."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.embeddings import Tokens
from archcalc.reference.family import Family, cross_entropy, decodes_alike, is_causal
from archcalc.reference.layers import side_by_side, weight_if
from archcalc.reference.recurrent_layers import AttendingDecoder, Layers, Made

ALONE = "layers"


class Recurrent(nn.Module):
    """`forward` takes one tensor for each stack: ids of shape (batch, seq), or vectors."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, self.stacks = config, config["stacks"]
        sides = ("source_", "target_") if len(self.stacks) == 2 else ("",)
        self.embeddings = [f"{side}embedding" for side in sides]
        for name, stack in zip(self.embeddings, self.stacks, strict=True):
            if stack["embedding"] is not None:
                table = Tokens(stack["vocab"], stack["embedding"], bool(stack["one_hot_bias"]))
                self.add_module(name, nn.Sequential(OrderedDict(tokens=table)))
            made: nn.Module = Layers(stack)
            if stack is self.stacks[-1] and config["attention"]:
                made = AttendingDecoder(stack, config)
            if stack["name"] == ALONE:
                for layer, module in list(made.named_children()):
                    self.add_module(layer, module)
                self.alone = [made]  # in a list, so that its layers are registered once
            else:
                self.add_module(stack["name"], made)
        if len(self.stacks) == 2 and self.stacks[1]["shared"]:
            self.get_submodule("target_embedding.tokens").weight = self.get_submodule("source_embedding.tokens").weight
        if config["head"]["kind"] != "none" or config["head"]["pool"]:
            self.head = Head(config)

    def forward(self, *inputs: Tensor, kept: dict[str, Any] | None = None) -> Tensor:
        """Logits. `kept` is what earlier tokens left behind, and takes what these leave."""
        known = kept is not None and "states" in kept
        made = None
        for index, given in enumerate(inputs):
            is_last = index == len(self.stacks) - 1
            if known and not is_last:
                continue
            made = self._layers(index)(self._embedded(index, given), made, kept if is_last else None)
        assert made is not None
        return self._answer(made)

    def _layers(self, index: int) -> Any:
        return self._modules.get(self.stacks[index]["name"]) or self.alone[0]

    def _answer(self, made: Made) -> Tensor:
        if not hasattr(self, "head"):
            return made.outputs
        table = self._modules.get(self.embeddings[-1])
        found: Tensor = self.head(made, None if table is None else table.get_parameter("tokens.weight"))
        return found

    def _embedded(self, index: int, given: Tensor) -> Tensor:
        embedding, stack = self._modules.get(self.embeddings[index]), self.stacks[index]
        if stack["one_hot"]:
            dtype = next(self.parameters()).dtype
            empty = torch.zeros(*given.shape, stack["vocab"], dtype=dtype, device=given.device)
            return empty.scatter(-1, given[..., None], 1)
        if embedding is None:
            return given
        found: Tensor = embedding(given)
        return found


class Head(nn.Module):
    """Over the vocabulary at every position, or once over the classes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.settings, top = config["head"], config["stacks"][-1]["layers"][-1]["layer"]
        state, pools = (top["projection"] or top["hidden"]) * top["directions"], self.settings["pool"]
        for attention in [pool for pool in pools if pool["kind"] == "attention"][:1]:
            self.pool = AttentionPooling(attention, state)
        if self.settings["kind"] == "none":
            return
        # of all that is pooled, side by side; without pooling, of one position's output
        width = state * (sum({"attention": pool["heads"]}.get(pool["kind"], 1) for pool in pools) or 1)
        outputs = config["head_vocab"] or config["stacks"][-1]["vocab"]
        if self.settings["kind"] == "classifier":
            outputs = self.settings["classes"]
        if self.settings["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = weight_if(self.settings["bias"], outputs)

    def forward(self, made: Made, table: Tensor | None) -> Tensor:
        x, pools = made.outputs, self.settings["pool"]
        if pools:
            ways = POOLS | {"attention": lambda made: self.pool(made.outputs)}
            x = side_by_side([ways[pool["kind"]](made) for pool in pools])
        if self.settings["kind"] == "none":
            return x
        if table is None or self.settings["kind"] != "tied":
            table = self.weight
        return nn.functional.linear(x, table, self.bias)


POOLS: dict[str, Callable[[Made], Tensor]] = {
    "max": lambda made: made.outputs.max(dim=1).values,
    "mean": lambda made: made.outputs.mean(dim=1),
    "sum": lambda made: made.outputs.sum(dim=1),
    "last": lambda made: made.top,
    "each": lambda made: made.outputs,
}


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


class RecurrentNets(Family):
    """All of them."""

    def build(self, options: dict[str, str]) -> Recurrent:
        return Recurrent(self.config)

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        sizes = zip(self.config["stacks"], lengths.values(), strict=True)
        return [
            torch.randint(stack["vocab"], (batch, length), device=device)
            if _reads_tokens(stack)
            else torch.rand(batch, length, stack["input"], device=device)
            for stack, length in sizes
        ]

    def loss(self, output: Tensor, given: list[Tensor]) -> Tensor:
        return cross_entropy(self.config["head"], output)

    def decodes(self) -> bool:
        """Not if a layer has to read the tokens backwards."""
        last = self.config["stacks"][-1]
        ahead = any(group["layer"]["directions"] == 2 for group in last["layers"])
        return _reads_tokens(last) and not ahead and not self.config["head"]["pool"]

    def decode_step(self, model: nn.Module, given: list[Tensor]) -> tuple[Callable[[], Tensor], dict[str, Any]]:
        kept: dict[str, Any] = {}
        with torch.no_grad():
            model(*given[:-1], given[-1][:, :-1], kept=kept)
        return (lambda: model(*given[:-1], given[-1][:, -1:], kept=kept)), kept

    def kept_tensors(self, kept: dict[str, Any]) -> list[Tensor]:
        """The last states of all layers; of a decoder that attends also what it looks at."""
        return list(kept["tensors"])

    def properties(self, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
        with torch.no_grad():
            output = model(*given)
            found = {"finite": bool(output.isfinite().all())}
            if self.decodes():
                found["a later token changes no earlier output"] = is_causal(model, given, output)
                found["one token at a time gives the same"] = decodes_alike(self.decode_step(model, given)[0](), output)
        return found


def _reads_tokens(stack: Config) -> bool:
    return stack["embedding"] is not None or stack["one_hot"]


FAMILY = RecurrentNets
