"""Flint: attention sinks, QK norm, sliding windows in most blocks, MoE in some blocks."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, layer_types, sliding
from archcalc.importers.hf._helpers.moe import mixture, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NOT_HERE: "sliding_window"}


def translate(c: Config, task: str) -> Fields:
    parts = _parts(c)
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head", "sinks": True},
        **used(c, parts, lambda: _experts(c)),
        **sliding(c, layer_types(c, _usual(c)), c.given("sliding_window"), part=parts),
    )


def _parts(c: Config) -> list[str]:
    """MoE in every `decoder_sparse_step`-th block, except in `mlp_only_layers`, by default the first two."""
    said, step = c.get("mlp_only_layers"), c.size("decoder_sparse_step")
    dense = [0, 1] if said is None else said
    blocks = range(c.size("num_hidden_layers"))
    return ["moe" if block not in dense and (block + 1) % step == 0 else "ffn" for block in blocks]


def _usual(c: Config) -> list[str]:
    """Full attention in the first two blocks, the last, and every fourth in between."""
    blocks = range(c.size("num_hidden_layers"))
    whole = [block < 2 or block % 4 == 1 or block == len(blocks) - 1 for block in blocks]
    return [FULL if looks else SLIDING for looks in whole]


def _experts(c: Config) -> Fields:
    width, shared = c.size("moe_intermediate_size"), c.count("shared_expert_intermediate_size")
    return mixture(c, c.size("num_experts"), width, shared=shared)
