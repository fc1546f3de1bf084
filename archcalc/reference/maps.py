"""Layers of maps and vectors, as torch.nn has them: convolutions, pooling, norms, joins."""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - as all of PyTorch's users write it
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.layers import ACTIVATIONS, weight_if
from archcalc.reference.layers import Dropout as NativeDropout
from archcalc.reference.sequences import OF_SEQUENCES

Signals = dict[str, Tensor]
Build = Callable[[Config], nn.Module]
CONV = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
POOL: dict[str, Any] = {
    "max": {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d},
    "average": {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d},
}
POOL_TO: dict[str, Any] = {
    "max": {1: F.adaptive_max_pool1d, 2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d},
    "average": {1: F.adaptive_avg_pool1d, 2: F.adaptive_avg_pool2d, 3: F.adaptive_avg_pool3d},
}
LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
OVER_CHANNELS: dict[str, Any] = {"softmax": torch.softmax, "log_softmax": torch.log_softmax}


def padded(x: Tensor, padding: list[list[int]]) -> Tensor:
    """F.pad counts sides from the last one."""
    return F.pad(x, [zeros for ends in reversed(padding) for zeros in ends])


def zeros_of(c: Config, x: Tensor) -> list[list[int]]:
    """Before and behind each side of a map that is convolved."""
    zeros: list[Any] = c["padding"]
    if zeros[0] == [None, 0]:
        return [[c["kernel"][0] * c["dilation"][0] - c["dilation"][0], 0]]  # causal: zeros before alone
    if None in zeros[0]:
        along = zip(x.shape[2:], c["kernel"], c["stride"], c["dilation"], strict=True)
        return [same_zeros(*side) for side in along]
    return zeros


def same_zeros(size: int, kernel: int, stride: int, dilation: int) -> list[int]:
    """Keras' `same`: the fewest zeros with which a window starts at every `stride`-th place, an odd one behind."""
    reach, zeros = dilation * (kernel - 1) + 1, 0
    while len(range(0, size + zeros - reach + 1, stride)) < len(range(0, size, stride)):
        zeros += 1
    return [zeros // 2, zeros - zeros // 2]


def channels_of(config: Config) -> int:
    """The axis of the channels; a sequence has its features last."""
    return {True: -1, False: 1}[config["is_sequence"]]


class Activation(nn.Module):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.act, self.channels = config["act"], channels_of(config)
        if config["slopes"]:
            self.weight = nn.Parameter(torch.full((config["slopes"],), 0.25))

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        if self.act == "prelu":
            return F.prelu(x.movedim(self.channels, 1), self.weight).movedim(1, self.channels)
        if self.act in OVER_CHANNELS:
            found: Tensor = OVER_CHANNELS[self.act](x, self.channels)
            return found
        return ACTIVATIONS[self.act](x)


class Norm(nn.Module):
    """Its parameters and running statistics are its own, under the names that PyTorch's norms have."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.kind, self.groups, self.whole = config["kind"], config["groups"], config["over_all"]
        self.channels, shape = channels_of(config), [config["channels"]]
        if self.whole:
            shape = [*config["sides"], *shape] if config["is_sequence"] else [*shape, *config["sides"]]
        self.weight = weight_if(config["affine"], *shape, start=torch.ones)
        self.bias = weight_if(config["affine"] and config["bias"], *shape)
        self.running_mean: Tensor | None
        self.running_var: Tensor | None
        for name, start in (("running_mean", torch.zeros), ("running_var", torch.ones)):
            self.register_buffer(name, start(config["channels"]) if config["running"] else None)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        if self.kind in ("layer", "rms") and self.whole:
            return self._scaled(x, x.shape[1:])
        if self.kind in ("layer", "rms"):
            last = x.movedim(self.channels, -1)
            return self._scaled(last, last.shape[-1:]).movedim(-1, self.channels)
        return self._channels_first(x.movedim(self.channels, 1)).movedim(1, self.channels)

    def _scaled(self, x: Tensor, shape: torch.Size) -> Tensor:
        if self.kind == "rms":
            return F.rms_norm(x, shape, self.weight)
        return F.layer_norm(x, shape, self.weight, self.bias)

    def _channels_first(self, x: Tensor) -> Tensor:
        if self.kind == "group":
            return F.group_norm(x, self.groups, self.weight, self.bias)
        of_batch = self.training or self.running_mean is None
        if self.kind == "batch":
            given = (self.weight, self.bias, self.running_mean, self.running_var)
            return torch.batch_norm(x, *given, of_batch, 0.1, 1e-5, False)  # F.batch_norm refuses a single number
        return F.instance_norm(x, self.running_mean, self.running_var, self.weight, self.bias, of_batch)


class Behind(nn.Module):
    """What stands behind a layer in the same item: its norm, its activation."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.function = None
        if config.get("norm"):
            self.norm = build({**config["norm"], "type": "norm"})
        act = config["act"]
        if act and act["slopes"]:
            self.act = build({**act, "type": "act"})
        elif act:  # without parameters, and so no module of its own
            self.function = Activation(act, build).forward

    def finish(self, x: Tensor) -> Tensor:
        if "norm" in self._modules:
            x = self.norm(x, {})
        if "act" in self._modules:
            return self.act(x, {})
        return self.function(x, {}) if self.function else x


class Conv(Behind):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.config, self.groups = config, config["groups"] or config["into"]  # depthwise where no number is said
        self.weight = nn.Parameter(torch.empty(config["out"], config["into"] // self.groups, *config["kernel"]))
        self.bias = weight_if(config["bias"], config["out"])
        nn.init.normal_(self.weight, std=self.weight[0].numel() ** -0.5)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        c, sides = self.config, len(self.config["kernel"])
        zeros = zeros_of(c, x)
        padding = [before for before, _ in zeros]
        if any(before != after for before, after in zeros):
            x, padding = padded(x, zeros), [0] * sides
        found = CONV[sides](x, self.weight, self.bias, c["stride"], padding, c["dilation"], self.groups)
        return self.finish(found)


class TransposedConv(Behind):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.config, self.groups = config, config["groups"] or config["into"]
        self.weight = nn.Parameter(torch.empty(config["into"], config["out"] // self.groups, *config["kernel"]))
        self.bias = weight_if(config["bias"], config["out"])
        nn.init.normal_(self.weight, std=config["into"] ** -0.5)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        c = self.config
        sizes = (c["stride"], c["padding"], c["output_padding"], self.groups, c["dilation"])
        return self.finish(TRANSPOSED[len(c["kernel"])](x, self.weight, self.bias, *sizes))


class Linear(Behind):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.weight = nn.Parameter(torch.empty(config["out"], config["into"]))
        self.bias = weight_if(config["bias"], config["out"])
        nn.init.normal_(self.weight, std=config["into"] ** -0.5)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        return self.finish(F.linear(x, self.weight, self.bias))


def _pool(c: Config, x: Tensor) -> Tensor:
    sizes = {"kernel_size": c["kernel"], "padding": c["padding"], "ceil_mode": c["ceil"]}
    if None not in c["stride"]:
        sizes["stride"] = c["stride"]
    if c["kind"] == "max":
        sizes["dilation"] = c["dilation"]
    found: Tensor = POOL[c["kind"]][len(c["kernel"])](x, **sizes)
    return found


def _upsample(c: Config, x: Tensor) -> Tensor:
    mode = {"linear": LINEAR[x.dim() - 2]}.get(c["mode"], "nearest")
    return F.interpolate(x, scale_factor=c["factor"], mode=mode)


WITHOUT_WEIGHTS: dict[str, Callable[[Config, Tensor], Tensor]] = {
    "pool": _pool,
    "pool_to": lambda c, x: POOL_TO[c["kind"]][len(c["to"])](x, c["to"]),
    "reshape": lambda c, x: x.flatten(1) if c["to"] == [None] else x.reshape(x.shape[0], *c["to"]),
    "upsample": _upsample,
    "pixel_shuffle": lambda c, x: F.pixel_shuffle(x, c["factor"]),
    "pixel_unshuffle": lambda c, x: F.pixel_unshuffle(x, c["factor"]),
    "pad": lambda c, x: padded(x, c["padding"]),
    "slice": lambda c, x: x.movedim(1 + c["axis"], 0)[c["first"] : c["end"]].movedim(0, 1 + c["axis"]),
    "shuffle": lambda c, x: x.unflatten(1, (c["groups"], -1)).transpose(1, 2).flatten(1, 2),
}


class Function(nn.Module):
    """A layer that has no weights."""

    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.config = config

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        return WITHOUT_WEIGHTS[self.config["type"]](self.config, x)


class Dropout(NativeDropout):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config["dropout"])

    def forward(self, x: Tensor, signals: Signals | None = None) -> Tensor:
        return super().forward(x)


class Scale(nn.Module):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.weight, self.channels = nn.Parameter(torch.ones(config["channels"])), channels_of(config)

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        return (x.movedim(self.channels, -1) * self.weight).movedim(-1, self.channels)


class ResponseNorm(nn.Module):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(config["channels"]))
        self.bias = nn.Parameter(torch.zeros(config["channels"]))

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        sides = list(range(2, x.dim()))
        weight, bias = (each.view(-1, *[1] * len(sides)) for each in (self.weight, self.bias))
        lengths = torch.linalg.vector_norm(x, dim=sides, keepdim=True)
        return weight * (x * (lengths / (lengths.mean(1, keepdim=True) + 1e-6))) + bias + x


class Residual(Behind):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__(config, build)
        self.branch = build({**config["branch"], "type": "sequence"})
        if config["shortcut"]:
            self.shortcut = build({**config["shortcut"], "type": "sequence"})

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        """Without a shortcut of its own the input is added where it has the shape of what comes out."""
        out = self.branch(x, signals)
        if "shortcut" in self._modules:
            out = out + self.shortcut(x, signals)
        elif out.shape == x.shape:
            out = out + x
        return self.finish(out)


class Sample(nn.Module):
    def __init__(self, config: Config, build: Build) -> None:
        super().__init__()
        self.mean = build({**config["mean"], "type": "sequence"})
        self.log_variance = build({**config["log_variance"], "type": "sequence"})

    def forward(self, x: Tensor, signals: Signals) -> Tensor:
        mean, logarithm = self.mean(x, signals), self.log_variance(x, signals)
        found: Tensor = mean + (logarithm * 0.5).exp() * torch.randn_like(mean)
        return found


LAYERS: dict[str, Any] = {
    **dict.fromkeys(WITHOUT_WEIGHTS, Function),
    "act": Activation,
    "norm": Norm,
    "conv": Conv,
    "transposed_conv": TransposedConv,
    "linear": Linear,
    "dropout": Dropout,
    "scale": Scale,
    "response_norm": ResponseNorm,
    "residual": Residual,
    "sample": Sample,
    **OF_SEQUENCES,
}
