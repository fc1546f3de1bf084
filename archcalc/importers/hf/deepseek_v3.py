"""DeepSeek V2 and V3: latent attention, dense blocks first, then experts beside shared ones."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, top
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation, rope

TYPES = ("deepseek_v2", "deepseek_v3")
USUAL = "causal"
INERT = (
    "num_key_value_heads head_dim qk_head_dim n_group topk_group topk_method routed_scaling_factor norm_topk_prob"
    " rope_interleave num_mtp_layers scoring_func moe_layer_freq seq_aux ep_size aux_loss_alpha"
)


def translate(c: Config, task: str) -> Fields:
    dense = min(c.count("first_k_dense_replace"), c.size("num_hidden_layers"))
    blocks = c.size("num_hidden_layers")
    bias = c.type == "deepseek_v2" and c.flag("mlp_bias")
    fields = decoder(
        c,
        task,
        kv_heads=None,
        head_dim=None,
        attention=latent(c),
        ffn=ffn(c, bias=bias) if dense else None,
        moe=_experts(c, bias=bias) if dense < blocks else None,
        position=rope(c, c.size("qk_rope_head_dim")),
        decoder=stack(["attention ffn"] * dense + ["attention moe"] * (blocks - dense)),
    )
    c.skip("intermediate_size", "moe_intermediate_size", "n_routed_experts", "n_shared_experts", "num_experts_per_tok")
    return fields


def latent(c: Config, v_dim: int | None = None) -> Fields:
    """`v_dim` where it does not stand in the file."""
    squeezed = c.get("q_lora_rank")
    return {
        "kind": "mla",
        **({"q_rank": c.size("q_lora_rank")} if squeezed is not None else {}),
        "kv_rank": c.size("kv_lora_rank"),
        "nope_dim": c.size("qk_nope_head_dim"),
        "rope_dim": c.size("qk_rope_head_dim"),
        "v_dim": v_dim or c.size("v_head_dim"),
        "bias": c.flag("attention_bias"),
    }


def _experts(c: Config, *, bias: bool) -> Fields:
    number = c.size("n_routed_experts")
    width, act, several = c.size("moe_intermediate_size"), activation(c), c.count("n_shared_experts")
    shared = {"width": several * width, "act": act, **({"bias": True} if bias else {})}
    fields: Fields = {"experts": number, "top": top(c, number), "width": width, "act": act}
    fields |= {"shared": shared} if several else {}
    fields |= {"out_bias": True} if bias and not several else {}  # all that is left of shared experts of no width
    return {**fields, "correction": True} if c.type == "deepseek_v3" else fields
