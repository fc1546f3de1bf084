"""A Transformer's block: its parts by the kinds that a resolved spec says, the norms around them, their sums."""

from collections.abc import Iterable
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention
from archcalc.reference.conv import Convolution, GatedConv
from archcalc.reference.delta import DeltaNet, KimiDelta
from archcalc.reference.kernel import KernelAttention, Lightning
from archcalc.reference.layers import Dropout, FeedForward, Weight, add, make_norm, run
from archcalc.reference.mamba import Mamba, Mamba2, RecurrentUnit
from archcalc.reference.mla import LatentAttention, as_attention
from archcalc.reference.moe import Mixture, RoutedAttention
from archcalc.reference.per_layer import PerLayer
from archcalc.reference.relative import DisentangledAttention, GatedAttention, SegmentAttention, ShawAttention
from archcalc.reference.scan import Cache
from archcalc.reference.unsaid import ATTENTIONS

HANDED = ("keys ", "values ")  # in front of the name of the attention whose they are


class Block(nn.Module):
    """x + part(x) for each part, with norms before, after, or around; or all parts beside each other."""

    def __init__(self, parts: list[Config], stack: Config, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        d_model, parallel = stack["d_model"], stack["parallel"]
        self.parallel, self.options = parallel, options
        self.steps: list[tuple[str, str]] = []
        for index, part in enumerate(parts):
            earlier = sum(other["name"] == part["name"] for other in parts[:index])
            name, place = part["name"], part["norm"]["place"]
            if earlier:
                name = f"{name}_{earlier + 1}"
            self.steps.append((name, place))
            self.add_module(name, make_part(part, d_model, memory_width, options))
            if parallel != "shared" and (parallel == "separate" or place != "out"):
                add(self, f"{name}_norm", make_norm(part["norm"], d_model))
            if place in ("out", "sandwich"):
                add(self, f"{name}_norm_out", make_norm(part["norm"], d_model))
            if part["layer_scale"]:
                self.add_module(f"{name}_scale", Scale(d_model, start=torch.ones))
        if parallel == "shared":
            add(self, "norm", make_norm(parts[0]["norm"], d_model))
        self.dropout = Dropout(parts[0]["dropout"])
        if stack["block_scale"]:
            self.register_buffer("scale", torch.tensor(1.0))
        self.words = [part["name"] for part in parts]
        self.hands_on = handed_on(parts, stack)
        for one in self.modules():
            if isinstance(one, Attention):
                one.is_read = f"keys {one.part['name']}" in self.hands_on
        self.reads = _names(part["kv_of"] for part in alone(parts) if part.get("kv_of"))

    def forward(self, names: list[str], cache: Cache | None, x: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
        """What comes out, and keys and values that later blocks read."""
        given = dict(zip(names, tensors, strict=True))
        x = self._through(given, cache, x)
        if hasattr(self, "scale"):
            x = x * self.scale
        return x, *(given[name] for name in self.hands_on)

    def _through(self, given: dict[str, Tensor], cache: Cache | None, x: Tensor) -> Tensor:
        if self.parallel:  # every part reads the same x, through one norm for all or one each
            shared = run(self, "norm", x)
            return x + sum(
                self._branch(name, run(self, f"{name}_norm", shared), given, cache) for name, _ in self.steps
            )
        for name, place in self.steps:
            branch = given["residual"] = x
            if place in ("pre", "sandwich"):
                branch = run(self, f"{name}_norm", x)
            x = _behind(given, self._branch(name, branch, given, cache))
            if place == "post":
                x = run(self, f"{name}_norm", x)
        return x

    def _branch(self, name: str, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> Tensor:
        branch = run(self, f"{name}_scale", self.get_submodule(name)(x, given, cache))
        return run(self, f"{name}_norm_out", self.dropout(branch))


def _behind(given: dict[str, Tensor], branch: Tensor) -> Tensor:
    """The residual stream, laid out as before, and what a part gives; nothing else holds either of them."""
    return given.pop("residual") + branch


class Scale(Weight):
    """A learned vector on a branch."""

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


LAYERS: dict[str, type[nn.Module]] = {
    "ffn": FeedForward,
    "conv": Convolution,
    "gated_conv": GatedConv,
    "moe": Mixture,
    "mamba": Mamba,
    "mamba2": Mamba2,
    "delta": DeltaNet,
    "kda": KimiDelta,
    "rglru": RecurrentUnit,
    "lightning": Lightning,
}
BY_POSITION: dict[str, type[nn.Module]] = {
    "shaw": ShawAttention,
    "transformer-xl": SegmentAttention,
    "disentangled": DisentangledAttention,
}


def make_part(part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> nn.Module:
    """Attention is told how wide what it looks at is, and how it is computed; a single layer needs neither."""
    if part["type"] == "together":
        return Together(part, d_model, memory_width, options)
    if part["type"] == "per_layer":
        return PerLayer(part, d_model, memory_width, options)
    if part["type"] == "layer":
        return LAYERS[part["layer"]["type"]](part["layer"], d_model)
    return _attention(part)(part, d_model, memory_width, options)


class Together(nn.Module):
    """Parts that read the same, added up; each perhaps between norms of its own."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        for one in part["parts"]:
            self.add_module(one["name"], make_part(one, d_model, memory_width, options))
            if part["separate"]:
                add(self, f"{one['name']}_norm", make_norm(one["norm"], d_model))
            if part["separate"] and one["norm"]["place"] == "sandwich":
                add(self, f"{one['name']}_norm_out", make_norm(one["norm"], d_model))
        self.names = [one["name"] for one in part["parts"]]

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        return reduce(torch.add, [self._branch(name, x, given, cache) for name in self.names])

    def _branch(self, name: str, x: Tensor, given: dict[str, Tensor], cache: Any) -> Tensor:
        return run(self, f"{name}_norm_out", self.get_submodule(name)(run(self, f"{name}_norm", x), given, cache))


def handed_on(parts: list[Config], stack: Config) -> list[str]:
    """Names of the keys and values of a block that others of the stack read."""
    read = {part.get("kv_of") for part in alone(stack["parts"].values())}
    return _names(part["name"] for part in alone(parts) if part["name"] in read)


def _names(parts: Iterable[str]) -> list[str]:
    return [f"{what}{part}" for part in parts for what in HANDED]


def alone(parts: Iterable[Config]) -> list[Config]:
    """Each part by itself, also of those beside each other."""
    return [one for part in parts for one in part.get("parts", [part])]


def _attention(part: Config) -> type[nn.Module]:
    if part["type"] == "mla":
        return LatentAttention
    if part["feature"] != "softmax":
        return KernelAttention
    if part["routed"]:
        return RoutedAttention
    kinds = {settings["kind"] for settings in part["positions"]}
    if any(settings.get("gated") for settings in part["positions"]):
        return GatedAttention
    return next((made for kind, made in BY_POSITION.items() if kind in kinds), Attention)


def parts_of(config: Config) -> list[Config]:
    """Of all stacks."""
    return [part for name in ("encoder", "decoder") if config[name] for part in config[name]["parts"].values()]


def attentions_of(parts: list[Config]) -> list[Config]:
    """Those that look at positions, all with the fields that attention has."""
    return [as_attention(part) for part in parts if part["type"] in ATTENTIONS]
