"""SGLang's static fraction: the share of the memory that is free before loading which weights and cache may take.

    static_share(rules, Start(memory, tokens=8192, graphs=256, gpus=1))     0.83 on an H100

What is not said with --mem-fraction-static is chosen by a rule that has changed from version to version; the numbers
are data in presets/engines/sglang.yaml.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from archcalc.run.device.sizes import Bytes
from archcalc.spec.node import Node

Fraction = Annotated[float, Field(gt=0, le=1)]
DECIMALS = 3  # to which SGLang rounds its choice
PREFILL_SIZES = ((32, 4), (256, 16), (512, 32), (1024, 64), (4096, 256))  # that graphs are captured for: up to, by step
BEYOND = 512  # the step above the last
LEAST = 0.001  # of a device that has less than what is to stay free
VIT_L = {"num_hidden_layers": 24, "hidden_size": 1024}


class Headroom(Node):
    """What stays free for activations and CUDA graphs, on devices of so much memory; or `shares`, by number of GPUs."""

    memory_from: Bytes = 0
    shares: dict[str, Fraction] = Field(default_factory=dict)  # that are taken, from so many GPUs on, the fewest first
    base: Bytes = 0
    each_token: Bytes = 0  # of a step
    tokens_from: int = 0  # fewer count as so many
    each_graph: Bytes = 0  # and request of the largest batch that has a CUDA graph
    each_gpu: Bytes = 0
    prefill_graph: Bytes = 0  # of each number of tokens that has one
    latent_graphs: Bytes = 0  # of all of them, with latent attention
    least: Bytes = 0
    draft: Bytes = 0  # with speculative decoding, on top
    besides: dict[str, Bytes] = Field(default_factory=dict)  # on devices of a maker, on top


class Vision(Node):
    """Of a model that sees images the share is smaller by a factor, and again by the size of its encoder."""

    factor: Fraction
    usual: int | None = None  # layers × width² of an encoder for which no more is taken off
    each: float = 0  # for every time that it is larger by as much
    least: float = 1
    most: float = 1


@dataclass(frozen=True)
class Start:
    """What the choice depends on: a device's memory, how the engine is started, and what the model is."""

    memory: int
    tokens: int  # of a prefill step
    graphs: int  # the largest batch of a CUDA graph; 0: none
    gpus: int = 1
    prefill_graphs: bool = False  # whether prefill has CUDA graphs
    is_latent: bool = False
    drafts: bool = False
    encoder: int | None = None  # layers × width² of what reads images; None: nothing does
    maker: str = ""


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


Headrooms = Annotated[list[Headroom], BeforeValidator(_as_list)]


def static_share(rooms: list[Headroom], start: Start, vision: Vision | None = None) -> float:
    """By the first rule for a device of this memory."""
    rule = next(one for one in rooms if start.memory >= one.memory_from)
    shares = [share for gpus, share in rule.shares.items() if start.gpus >= int(gpus)]
    share = shares[-1] if shares else round(1 - headroom(rule, start) / start.memory, DECIMALS)
    if vision and start.encoder is not None:
        share *= _seeing(vision, start.encoder)
    return max(share, LEAST)


def headroom(rule: Headroom, start: Start) -> int:
    """Bytes that stay free."""
    found = rule.base + rule.each_token * max(start.tokens, rule.tokens_from) + rule.each_graph * start.graphs
    found += rule.each_gpu * start.gpus
    if start.prefill_graphs and start.is_latent:
        found += rule.latent_graphs
    elif start.prefill_graphs:
        found += rule.prefill_graph * prefill_sizes(start.tokens)
    return max(found, rule.least) + rule.draft * start.drafts + rule.besides.get(start.maker, 0)


def prefill_sizes(tokens: int) -> int:
    """Numbers of tokens that prefill has CUDA graphs for, up to a whole step."""
    found = below = 0
    for upto, step in (*PREFILL_SIZES, (max(tokens, PREFILL_SIZES[-1][0]), BEYOND)):
        found += max(0, min(tokens, upto) - below) // step
        below = upto
    return found


def _seeing(vision: Vision, encoder: int) -> float:
    larger = encoder / vision.usual - 1 if vision.usual else 0
    return vision.factor * max(vision.least, min(vision.most, 1 - vision.each * larger))


def encoder_of(config: Mapping[str, Any]) -> int | None:
    """Layers × width² of a config.json's vision encoder, as SGLang reads them: under other names, those of ViT-L."""
    vision = config.get("vision_config")
    if not isinstance(vision, dict):
        return None
    layers, width = (vision.get(name) or usual for name, usual in VIT_L.items())
    return int(layers) * int(width) ** 2


def is_latent(config: Mapping[str, Any]) -> bool:
    """Whether attention keeps a latent vector (MLA), by a config.json."""
    text = config.get("text_config")
    return bool({**config, **(text if isinstance(text, dict) else {})}.get("kv_lora_rank"))
