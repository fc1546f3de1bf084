"""Autoencoders in plain PyTorch: the linear one, and the recursive one over a sentence, word after word.

Deep and variational ones are in `layered_autoencoder`.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.family import Family
from archcalc.reference.layered_autoencoder import LayeredAutoencoder, layered_loss


class LinearAutoencoder(nn.Module):
    """x̂ = W2·W1·x."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder = nn.Linear(config["input"], config["hidden"], bias=config["bias"])
        self.decoder = nn.Linear(config["hidden"], config["input"], bias=config["bias"])

    def forward(self, x: Tensor) -> Tensor:
        return self.decoder(self.encoder(x))


@dataclass
class Tree:
    """The vector that is left, and what every merge read, rebuilt and said."""

    outputs: Tensor
    children: list[Tensor] = field(default_factory=list)
    rebuilt: list[Tensor] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)


class Parent(nn.Linear):
    """p = tanh(W1·[left; right] + b1)."""

    def forward(self, children: Tensor) -> Tensor:
        return torch.tanh(super().forward(children))


class Merge(nn.Module):
    """Two neighbours become their parent, which is rebuilt and, with classes, classified."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        pair, hidden, bias = 2 * config["input"], config["hidden"], config["bias"]
        self.parent = Parent(pair, hidden, bias=bias)
        self.reconstruction = nn.Linear(hidden, pair, bias=bias)
        if config["classes"]:
            self.classifier = nn.Linear(hidden, config["classes"], bias=bias)

    def forward(self, left: Tensor, right: Tensor, tree: Tree) -> Tensor:
        children = torch.cat((left, right), dim=1)
        parent = self.parent(children)
        tree.children.append(children)
        tree.rebuilt.append(self.reconstruction(parent))
        if hasattr(self, "classifier"):
            tree.logits.append(self.classifier(parent))
        return parent


class RecursiveAutoencoder(nn.Module):
    """The tree that merges the first two words, then always the parent and the next word."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.merge = Merge(config)

    def forward(self, words: Tensor) -> Tree:
        tree = Tree(words[:, 0])
        for place in range(1, words.shape[1]):
            tree.outputs = self.merge(tree.outputs, words[:, place], tree)
        return tree


class Autoencoders(Family):
    """All of them."""

    def build(self, options: dict[str, str]) -> nn.Module:
        kinds = {"linear": LinearAutoencoder, "recursive": RecursiveAutoencoder}
        made: nn.Module = kinds.get(self.config["kind"], LayeredAutoencoder)(self.config)
        return made

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        return [torch.rand(batch, *lengths.values(), self.config["input"], device=device)]

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """The reconstruction loss; in a tree at every merge, plus the classification loss."""
        if self.config["kind"] == "linear":
            return nn.functional.mse_loss(output, given[0])
        if self.config["kind"] != "recursive":
            return layered_loss(self.config, output, given[0])
        errors = [nn.functional.mse_loss(*pair) for pair in zip(output.rebuilt, output.children, strict=True)]
        if output.logits:
            targets = torch.randint(self.config["classes"], output.logits[0].shape[:1], device=given[0].device)
            errors += [nn.functional.cross_entropy(logits, targets) for logits in output.logits]
        return torch.stack(errors).sum()


FAMILY = Autoencoders
