"""GLM-4.7 Flash, A.X K1, Youtu and MiniCPM 3: DeepSeek's latent attention, with experts in the first two."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, even_heads, ffn
from archcalc.importers.hf._helpers.moe import listed, mixture, used
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope
from archcalc.importers.hf.deepseek_v3 import latent

TYPES = ("glm4_moe_lite", "axk1", "youtu", "minicpm3")
USUAL = "causal"
INERT = (
    "num_key_value_heads head_dim qk_head_dim n_group topk_group routed_scaling_factor norm_topk_prob rope_interleave"
    " scale_emb scale_depth dim_model_base embedding_initializer_range first_k_dense_replace moe_layer_freq"
)


def translate(c: Config, task: str) -> Fields:
    parts = _parts(c)
    bias = c.type == "minicpm3" and c.flag("mlp_bias")
    return decoder(
        c,
        task,
        kv_heads=None,
        head_dim=None,
        attention=_attention(c),
        **used(c, parts, lambda: _experts(c), lambda: ffn(c, bias=bias)),
        position=rope(c, c.size("qk_rope_head_dim")),
        decoder=stack([f"attention {part}" for part in parts]),
    )


def _attention(c: Config) -> Fields:
    """MiniCPM's values are as wide as a head would be, unless the file says otherwise."""
    return latent(c, even_heads(c) if c.type == "minicpm3" and c.given("v_head_dim") is None else None)


def _parts(c: Config) -> list[str]:
    blocks = c.size("num_hidden_layers")
    if c.type in ("youtu", "minicpm3"):
        return ["ffn"] * blocks
    first, every = 1, 1
    if c.type == "axk1":
        first = 1 if c.given("first_k_dense_replace") is None else c.given("first_k_dense_replace")
        every = 1 if c.given("moe_layer_freq") is None else c.given("moe_layer_freq")
    return listed(c, ["moe" if block >= first and block % every == 0 else "ffn" for block in range(blocks)])


def _experts(c: Config) -> Fields:
    """A.X K1 has one more norm, on what its experts answer."""
    width = c.size("moe_intermediate_size")
    normed: Fields = {"norm": {"kind": "rms", "place": "sandwich"}} if c.type == "axk1" else {}
    shared = c.count("n_shared_experts") * width
    return mixture(c, c.size("n_routed_experts"), width, shared=shared, correction=True, **normed)
