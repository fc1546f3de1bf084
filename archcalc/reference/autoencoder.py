"""Autoencoders in plain PyTorch: linear, deep, variational, and the recursive one over a sentence, word by word."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.family import Family
from archcalc.reference.layers import ACTIVATIONS, weight_if


def linear_autoencoder(config: Config) -> nn.Module:
    """x̂ = W2·W1·x."""
    widths = {"encoder": (config["input"], config["hidden"]), "decoder": (config["hidden"], config["input"])}
    layers = {name: nn.Linear(*sizes, bias=config["bias"]) for name, sizes in widths.items()}
    return nn.Sequential(OrderedDict(layers))


@dataclass
class Tree:
    """The vector that is left, and what every merge read, rebuilt and said."""

    outputs: Tensor
    children: list[Tensor] = field(default_factory=list)
    rebuilt: list[Tensor] = field(default_factory=list)
    logits: list[Tensor] = field(default_factory=list)


class Merge(nn.Module):
    """Two neighbours become their parent, tanh(W1·[left; right] + b1): rebuilt and, with classes, classified."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        pair, hidden, bias = 2 * config["input"], config["hidden"], config["bias"]
        self.parent = Layer(pair, hidden, bias, "tanh")
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


@dataclass
class Rebuilt:
    """The input as it was rebuilt; of a variational one also the mean and log-variance of its code."""

    outputs: Tensor
    mean: Tensor | None = None
    log_variance: Tensor | None = None


class Layer(nn.Linear):
    """act(W·x + b)."""

    def __init__(self, into: int, out: int, bias: bool, act: str) -> None:
        super().__init__(into, out, bias=bias)
        self.act = ACTIVATIONS[act]

    def forward(self, x: Tensor) -> Tensor:
        return self.act(super().forward(x))


class TiedLayer(nn.Module):
    """act(Wᵀ·x + b), by a matrix of the encoder."""

    def __init__(self, out: int, bias: bool, act: str) -> None:
        super().__init__()
        self.act, self.bias = ACTIVATIONS[act], weight_if(bias, out)

    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        return self.act(nn.functional.linear(x, matrix.t(), self.bias))


class Encoder(nn.Module):
    """Layers down to the code, or to the mean and log-variance that it is drawn from."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        widths, self.varies = [config["input"], *config["encoder"]], config["kind"] == "variational"
        acts = [*[config["act"]] * (len(widths) - 2), config["code_act"]]
        for number, (into, out) in enumerate(pairwise(widths), start=1):
            if self.varies and number == len(acts):
                self.mean = nn.Linear(into, out, bias=config["bias"])
                self.log_variance = nn.Linear(into, out, bias=config["bias"])
            else:
                self.add_module(f"layer_{number}", Layer(into, out, config["bias"], acts[number - 1]))

    def layers(self) -> list[Layer]:
        return [one for one in self.children() if isinstance(one, Layer)]

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        for layer in self.layers():
            x = layer(x)
        if not self.varies:
            return (x,)
        return self.mean(x), self.log_variance(x)


class Decoder(nn.Module):
    """Layers back to the input's width, by matrices of their own or by the encoder's."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        *between, last = config["decoder"]
        if None in between:  # those of the encoder, backwards, where none are said
            between, last = [*reversed(config["encoder"][:-1])], config["input"]
        self.tied, widths = config["tied"], [config["encoder"][-1], *between, last or config["input"]]
        acts = [*[config["act"]] * (len(widths) - 2), config["output_act"]]
        for index, (into, out) in enumerate(pairwise(widths)):
            made: nn.Module = Layer(into, out, config["bias"], acts[index])
            if self.tied:
                made = TiedLayer(out, config["bias"], acts[index])
            self.add_module(f"layer_{index + 1}", made)

    def forward(self, z: Tensor, matrices: list[Tensor]) -> Tensor:
        layers = list(self.children())
        given: list[tuple[Tensor, ...]] = [()] * len(layers)
        if self.tied:
            given = [(matrix,) for matrix in matrices]
        for layer, matrix in zip(layers, given, strict=True):
            z = layer(z, *matrix)
        return z


class LayeredAutoencoder(nn.Module):
    """Down to the code and up again; a variational one draws the code by z = μ + σ·ε."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.encoder, self.decoder = Encoder(config), Decoder(config)

    def forward(self, x: Tensor) -> Rebuilt:
        code, *log_variance = self.encoder(x)
        matrices = [layer.weight for layer in reversed(self.encoder.layers())]
        if not log_variance:
            return Rebuilt(self.decoder(code, matrices))
        z = code + torch.exp(log_variance[0] / 2) * torch.randn_like(code)
        return Rebuilt(self.decoder(z, matrices), code, log_variance[0])


ERRORS = {"squared": nn.functional.mse_loss, "bernoulli": nn.functional.binary_cross_entropy}


class Autoencoders(Family):
    """All of them."""

    def build(self, options: dict[str, str]) -> nn.Module:
        kinds: dict[str, Callable[[Config], nn.Module]]
        kinds = {"linear": linear_autoencoder, "recursive": RecursiveAutoencoder}
        return kinds.get(self.config["kind"], LayeredAutoencoder)(self.config)

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        return [torch.rand(batch, *lengths.values(), self.config["input"], device=device)]

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """The reconstruction loss; of a variational one also how far its code is from a standard normal; in a tree at
        every merge, plus the classification loss."""
        if self.config["kind"] == "linear":
            return nn.functional.mse_loss(output, given[0])
        if self.config["kind"] != "recursive":
            error: Tensor = ERRORS[self.config["loss"]](output.outputs, given[0])
            if output.mean is None:
                return error
            return error - torch.sum(1 + output.log_variance - output.mean.square() - output.log_variance.exp()) / 2
        errors = [nn.functional.mse_loss(*pair) for pair in zip(output.rebuilt, output.children, strict=True)]
        if output.logits:
            targets = torch.randint(self.config["classes"], output.logits[0].shape[:1], device=given[0].device)
            errors += [nn.functional.cross_entropy(logits, targets) for logits in output.logits]
        return torch.stack(errors).sum()


FAMILY = Autoencoders
