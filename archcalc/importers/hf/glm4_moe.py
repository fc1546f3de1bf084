"""GLM-4.5 and later: dense blocks first, then experts beside a shared one."""

from __future__ import annotations

from archcalc.importers.hf.blocks import Fields, biased, decoder, ffn, head_dim, top
from archcalc.importers.hf.patterns import stack
from archcalc.importers.hf.reading import Config
from archcalc.importers.hf.words import activation, rope

TYPES = ("glm4_moe",)
USUAL = "causal"
INERT = "n_group topk_group routed_scaling_factor norm_topk_prob num_mtp_layers"


def translate(c: Config, task: str) -> Fields:
    blocks = c.size("num_hidden_layers")
    dense = min(c.count("first_k_dense_replace"), blocks)
    fields = decoder(
        c,
        task,
        attention={
            "bias": biased(qkv=c.flag("attention_bias")),
            **({"qk_norm": "head"} if c.flag("use_qk_norm") else {}),
        },
        ffn=ffn(c) if dense else None,
        moe=_experts(c) if dense < blocks else None,
        position=rope(c, head_dim(c), fraction=0.5),
        decoder=stack(["attention ffn"] * dense + ["attention moe"] * (blocks - dense)),
    )
    c.skip("intermediate_size", "moe_intermediate_size", "n_routed_experts", "n_shared_experts", "num_experts_per_tok")
    if c.given("num_mtp_layers"):
        c.notes.append("layers that predict further tokens are not built by transformers, and not counted")
    return fields


def _experts(c: Config) -> Fields:
    width, act = c.size("moe_intermediate_size"), activation(c)
    number, several = c.size("n_routed_experts"), c.count("n_shared_experts")
    return {
        "experts": number,
        "top": top(c, number),
        "width": width,
        "act": act,
        "correction": True,
        **({"shared": {"width": several * width, "act": act}} if several else {}),
    }
