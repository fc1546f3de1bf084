"""MiniMax-01: lightning attention and softmax attention in turns, experts in every block, norms on what was added."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, head_dim, layer_types, window
from archcalc.importers.hf._helpers.moe import mixture
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("minimax",)
USUAL = "causal"
INERT = (
    "full_attn_alpha_factor full_attn_beta_factor linear_attn_alpha_factor linear_attn_beta_factor mlp_alpha_factor"
    " mlp_beta_factor"
)

_PARTS = {"full_attention": "attention", "linear_attention": "lightning"}


def translate(c: Config, task: str) -> Fields:
    """Every block starts with a norm that its residual goes through too: that of the sum before it, or the embedding's.
    So norms stand behind each sum, the last of them being the class's final one."""
    layers = layer_types(c, _usual(c))
    if not set(layers) <= set(_PARTS):
        raise c.refused("layer_types")
    parts = [_PARTS[layer] for layer in layers]
    c.skip("sliding_window", "block_size")
    return decoder(
        c,
        task,
        ffn=None,
        attention=window(c) if "attention" in parts else None,
        lightning=_lightning(c) if "lightning" in parts else None,
        moe=mixture(c, c.size("num_local_experts"), c.size("intermediate_size")),
        norm={"kind": "rms", "place": "post"},
        embedding={"norm": True},
        decoder=stack([f"{part} moe" for part in parts]),
    )


def _usual(c: Config) -> list[str]:
    return ["linear_attention" if block % 2 else "full_attention" for block in range(c.size("num_hidden_layers"))]


def _lightning(c: Config) -> Fields:
    c.notes.append("rates of forgetting, which the class keeps in tables as large as a chunk, are not counted")
    return {"head_dim": head_dim(c), "act": activation(c), "chunk": c.size("block_size")}
