"""DeepSeek's multi-head latent attention (MLA), its experts, and the decoders built from them."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, decoder, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import attentions, paired
from archcalc.importers.hf._helpers.moe import experts, first_dense, listed, mixture, used

INDEXED_INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads head_dim",
    inert.USUAL_LAYERS: "layer_types index_topk_pattern index_topk_freq index_skip_topk_offset",
    inert.NOT_HERE: "mlp_bias",
}


def mla(c: Config, v_dim: int | None = None) -> Fields:
    """`v_dim` where it does not stand in the file."""
    squeezed = c.size_or("q_lora_rank", 0) or None
    return {
        "kind": "mla",
        **when(squeezed is not None, q_rank=squeezed),
        "kv_rank": c.size("kv_lora_rank"),
        "nope_dim": c.size("qk_nope_head_dim"),
        "rope_dim": c.size("qk_rope_head_dim"),
        "v_dim": v_dim or c.size("v_head_dim"),
        "bias": c.flag("attention_bias"),
    }


def mla_decoder(c: Config, attention: Fields, parts: list[str], **more: Value) -> Fields:
    """`parts` stand behind attention: an FFN or experts in each block."""
    usual = {"position": rope(c, c.size("qk_rope_head_dim")), "decoder": paired(["attention"] * len(parts), parts)}
    return decoder(c, kv_heads=None, head_dim=None, attention=attention, **{**usual, **more})


def deepseek_experts(c: Config, *, bias: bool = False, correction: bool = True, **more: Value) -> Fields:
    """Experts beside shared ones; with a `correction` that steers the router, from V3 on."""
    steered = when(correction, correction=True)
    return experts(c, "n_routed_experts", shared="n_shared_experts", shared_bias=bias, **steered, **more)


def indexed_decoder(c: Config, have_their_own: list[bool]) -> Fields:
    """Attention looks only where an indexer points: the block's own, or that of an earlier block."""
    parts, attention = listed(c, first_dense(c)), mla(c)
    index = {"heads": c.size("index_n_heads"), "head_dim": c.size("index_head_dim"), "top": c.size("index_topk")}
    kinds = [when(own, index=index) for own in have_their_own]
    if all(have_their_own):
        attention, kinds = {**attention, "index": index}, [{}] * len(kinds)
    made = used(c, parts, lambda: _indexed_experts(c))
    return mla_decoder(c, attention, parts, **made, **attentions(kinds, parts))


def _indexed_experts(c: Config) -> Fields:
    """Some files call the number of experts num_experts."""
    width = c.size("moe_intermediate_size")
    number = c.given("num_experts") or c.size("n_routed_experts")
    return mixture(c, number, width, shared=c.count("n_shared_experts") * width, correction=True)
