"""Deep and variational autoencoders of fully connected layers, in plain PyTorch."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, weight_if


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


def decoder_widths(config: Config) -> list[int]:
    """Those of the encoder, backwards, where none are said."""
    mirrored = [*reversed(config["encoder"][:-1]), config["input"]]
    *between, last = config["decoder"]
    if None in between:
        return mirrored
    return [*between, last or config["input"]]


class Decoder(nn.Module):
    """Layers back to the input's width, by matrices of their own or by the encoder's."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.tied, widths = config["tied"], [config["encoder"][-1], *decoder_widths(config)]
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


def layered_loss(config: Config, output: Rebuilt, target: Tensor) -> Tensor:
    """The error of the reconstruction, and of a variational one how far its code is from a standard normal."""
    compare = {"squared": nn.functional.mse_loss, "bernoulli": nn.functional.binary_cross_entropy}[config["loss"]]
    error: Tensor = compare(output.outputs, target)
    if output.mean is None or output.log_variance is None:
        return error
    return error - torch.sum(1 + output.log_variance - output.mean.square() - output.log_variance.exp()) / 2
