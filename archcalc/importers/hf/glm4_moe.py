"""GLM-4.5 and Solar Open: biases on q, k and v, dense blocks first if any, then MoE with a shared expert."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, latent, when
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import first_dense, used

TYPES = ("glm4_moe", "glm4v_moe_text", "solar_open")


def translate(c: Config) -> Fields:
    parts = first_dense(c)
    normed = when(c.flag("use_qk_norm"), qk_norm="head")
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("attention_bias")), **normed},
        **used(c, parts, lambda: latent.deepseek_experts(c)),
        decoder=paired(["attention"] * len(parts), parts),
    )
