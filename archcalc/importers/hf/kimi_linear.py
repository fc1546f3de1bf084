"""Kimi Linear: Kimi Delta Attention with some multi-head latent attention without RoPE; dense blocks, then MoE."""

from archcalc.importers.hf._helpers import Config, Fields, inert, kimi_like, latent
from archcalc.importers.hf._helpers.layer_types import LINEAR, full_where, mixers
from archcalc.importers.hf._helpers.moe import listed, sparse_where, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.NOT_HERE: "max_position_embeddings"}


def translate(c: Config) -> Fields:
    dense = int(c.given_or("first_k_dense_replace", 1))
    found, parts = mixers(c, _usual(c), "delta"), listed(c, sparse_where(c, lambda block: block >= dense))
    made = used(c, parts, lambda: kimi_like.kimi_experts(c))
    return kimi_like.kimi(c, found, parts, attention=latent.mla(c), delta=_delta(c), **made)


def _linear(c: Config) -> Fields:
    """The Kimi Delta Attention options, which the config nests in a mapping."""
    said = c.given("linear_attn_config") or {}
    if not isinstance(said, dict):
        raise c.wrong("linear_attn_config", "fields such as head_dim")
    return said


def _usual(c: Config) -> list[str]:
    """The full-attention blocks that the config lists, counted from 1; by default every fourth one but the first."""
    blocks, said = range(c.size("num_hidden_layers")), _linear(c)
    if "full_attn_layers" not in said or "kda_layers" not in said:
        return full_where(c, lambda block: block and block % 4 == 0, LINEAR)
    attend, linear = said["full_attn_layers"], said["kda_layers"]
    if sorted((*attend, *linear)) != [block + 1 for block in blocks]:
        raise c.refused("linear_attn_config", "it must list every block once, in full_attn_layers or kda_layers")
    return full_where(c, lambda block: block + 1 in attend, LINEAR)


def _delta(c: Config) -> Fields:
    said = _linear(c)
    sizes = {
        "heads": said.get("num_heads", c.size("linear_num_heads")),
        "head_dim": said.get("head_dim", c.size("linear_head_dim")),
        "conv": said.get("short_conv_kernel_size", c.size("linear_conv_kernel_dim")),
    }
    return {"kind": "kda", **sizes}
