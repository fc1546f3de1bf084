"""What makes vectors of a recording, and positions that a convolution makes of the embedding."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, add, run


def samples_for(convs: list[Config], positions: int) -> int:
    """How long a recording is of which that many positions are made."""
    for one in reversed(convs):
        zeros = one["kernel"] // 2 * 2 * one["padded"]
        first = 1 if one["padded"] else one["stride"]  # of the lengths that make so many, the longest or the shortest
        positions = positions * one["stride"] + one["kernel"] - zeros - first
    return positions


class ChannelNorm(nn.GroupNorm):
    """Every channel of (batch, positions, channels) normalised over all positions."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class AudioConv(nn.Conv1d):
    """A convolution over (batch, positions, channels), a norm, an activation of what is laid out anew: whatever reads
    it would copy it otherwise."""

    def __init__(self, settings: Config, into: int, out: int) -> None:
        padding = settings["kernel"] // 2 * settings["padded"]
        kernel, stride = settings["kernel"], settings["stride"]
        super().__init__(into, out, kernel, stride=stride, padding=padding, bias=settings["bias"])
        self.act = ACTIVATIONS[settings["act"]]
        if settings["norm"] == "channel":
            self.norm: nn.Module = ChannelNorm(out, out)
        elif settings["norm"] == "layer":
            self.norm = nn.LayerNorm(out)

    def forward(self, x: Tensor) -> Tensor:
        made = run(self, "norm", super().forward(x.transpose(1, 2)).transpose(1, 2))
        return self.act(made.contiguous())


class Listening(nn.Module):
    """Samples or frames, convolved until there is one vector for each position, which is as wide as the model."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        audio, d_model = stack["audio"], stack["d_model"]
        width = 1 if audio["samples"] else audio["mels"]
        self.convs = [f"conv_{index + 1}" for index in range(len(audio["convs"]))]
        for name, settings in zip(self.convs, audio["convs"], strict=True):
            out = settings["channels"] or d_model
            self.add_module(name, AudioConv(settings, width, out))
            width = out
        add(self, "features_norm", nn.LayerNorm(width) if audio["normed"] else None)
        add(self, "projection", nn.Linear(width, d_model) if audio["projects"] else None)
        self.mask_token = nn.ParameterDict({"weight": torch.zeros(1, d_model)} if audio["mask"] else {})

    def heard(self, x: Tensor) -> Tensor:
        """Samples are a single channel."""
        if x.dim() == len(("batch", "samples")):
            x = x[..., None]
        for name in self.convs:
            x = run(self, name, x)
        return run(self, "projection", run(self, "features_norm", x))


class ConvolvedPositions(nn.Module):
    """x + act(conv(x)), or several convolutions behind each other."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        self.number = settings["layers"]
        made = [PositionConv(settings, width) for _ in range(self.number)]
        for index, one in enumerate(made, start=1):
            self.add_module(f"conv_{index}", one)

    def forward(self, x: Tensor, start: int) -> Tensor:
        found = x
        for index in range(1, self.number + 1):
            found = run(self, f"conv_{index}", found)
        return x + found


class PositionConv(nn.Module):
    """As long as its input: an even kernel makes one position too many."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        kernel, self.groups = settings["kernel"], settings["groups"]
        self.padding, self.act = kernel // 2, ACTIVATIONS[settings["act"]]
        weight = nn.Parameter(torch.randn(width, width // self.groups, kernel))
        self.is_weight_normed = settings["normed"] == "kernel"
        if self.is_weight_normed:
            self.direction, self.length = weight, nn.Parameter(torch.ones(kernel))
        else:
            self.weight = weight
        self.bias = nn.Parameter(torch.zeros(width))
        if settings["normed"] == "output":
            self.norm = nn.LayerNorm(width, elementwise_affine=False)

    def forward(self, x: Tensor) -> Tensor:
        weight = self._weight()
        made = nn.functional.conv1d(x.transpose(1, 2), weight, self.bias, padding=self.padding, groups=self.groups)
        return self.act(run(self, "norm", made[..., : x.shape[1]].transpose(1, 2)))

    def _weight(self) -> Tensor:
        if not self.is_weight_normed:
            return self.weight
        return torch._weight_norm(self.direction, self.length[None, None], 2)
