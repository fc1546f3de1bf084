"""The parts that a Transformer's block is made of, by the kinds that a resolved spec says."""

from functools import reduce
from operator import add
from typing import Any

from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import Attention
from archcalc.reference.conv import Convolution, GatedConv
from archcalc.reference.delta import DeltaNet, KimiDelta
from archcalc.reference.kernel import KernelAttention
from archcalc.reference.layers import FeedForward
from archcalc.reference.lightning import Lightning
from archcalc.reference.mamba import Mamba, Mamba2
from archcalc.reference.mla import LatentAttention, as_attention
from archcalc.reference.moe import Mixture
from archcalc.reference.relative import DisentangledAttention, SegmentAttention, ShawAttention
from archcalc.reference.rglru import RecurrentUnit
from archcalc.reference.routed_heads import RoutedAttention
from archcalc.reference.unsaid import ATTENTIONS

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
    if part["type"] == "layer":
        return LAYERS[part["layer"]["type"]](part["layer"], d_model)
    return _attention(part)(part, d_model, memory_width, options)


class Together(nn.Module):
    """Parts that read the same, added up."""

    def __init__(self, part: Config, d_model: int, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        for one in part["parts"]:
            self.add_module(one["name"], make_part(one, d_model, memory_width, options))

    def forward(self, x: Tensor, given: dict[str, Tensor], cache: Any = None) -> Tensor:
        return reduce(add, [one(x, given, cache) for one in self.children()])


def _attention(part: Config) -> type[nn.Module]:
    if part["type"] == "mla":
        return LatentAttention
    if part["feature"] != "softmax":
        return KernelAttention
    if part["routed"]:
        return RoutedAttention
    kinds = {settings["kind"] for settings in part["positions"]}
    return next((made for kind, made in BY_POSITION.items() if kind in kinds), Attention)


def parts_of(config: Config) -> list[Config]:
    """Of all stacks."""
    return [part for name in ("encoder", "decoder") if config[name] for part in config[name]["parts"].values()]


def attentions_of(parts: list[Config]) -> list[Config]:
    """Those that look at positions, all with the fields that attention has."""
    return [as_attention(part) for part in parts if part["type"] in ATTENTIONS]
