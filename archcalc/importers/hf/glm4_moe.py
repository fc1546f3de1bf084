"""GLM-4.5: biases on q, k and v, dense blocks first, then MoE blocks with routed experts and a shared expert."""

from archcalc.importers.hf._helpers.blocks import biased, decoder
from archcalc.importers.hf._helpers.latent import deepseek_experts
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import first_dense, used
from archcalc.importers.hf._helpers.reading import Config, Fields, when

TYPES = ("glm4_moe", "glm4v_moe_text")


def translate(c: Config, task: str) -> Fields:
    parts = first_dense(c)
    normed = when(c.flag("use_qk_norm"), qk_norm="head")
    return decoder(
        c,
        task,
        attention={"bias": biased(qkv=c.flag("attention_bias")), **normed},
        **used(c, parts, lambda: deepseek_experts(c)),
        decoder=paired(["attention"] * len(parts), parts),
    )
