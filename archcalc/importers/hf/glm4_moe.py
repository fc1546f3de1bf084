"""GLM-4.5 and Solar Open: biases on q, k and v, dense blocks first, then experts beside a shared one."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder, head_dim
from archcalc.importers.hf._helpers.moe import first_dense, mixture, used
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import rope

TYPES = ("glm4_moe", "solar_open", "glm4v_moe_text")
USUAL = "causal"
INERT = "n_group topk_group routed_scaling_factor norm_topk_prob num_mtp_layers"


def translate(c: Config, task: str) -> Fields:
    solar = c.type == "solar_open"
    parts = ["moe"] * c.size("num_hidden_layers") if solar else first_dense(c)
    return decoder(
        c,
        task,
        attention={
            "bias": biased(qkv=c.flag("attention_bias")),
            **({"qk_norm": "head"} if c.flag("use_qk_norm") else {}),
        },
        **used(c, parts, lambda: _experts(c)),
        position=rope(c, head_dim(c), fraction=1.0 if solar else 0.5),
        decoder=stack([f"attention {part}" for part in parts]),
    )


def _experts(c: Config) -> Fields:
    width = c.size("moe_intermediate_size")
    shared = c.count("n_shared_experts") * width
    return mixture(c, c.size("n_routed_experts"), width, shared=shared, correction=True)
