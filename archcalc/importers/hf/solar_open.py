"""Solar Open: biases on q, k and v, routed experts and a shared expert in every block."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, latent, when
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import all_sparse, used


def translate(c: Config) -> Fields:
    parts = all_sparse(c)
    normed = when(c.flag("use_qk_norm"), qk_norm="head")
    return decoder(
        c,
        attention={"bias": biased(qkv=c.flag("attention_bias")), **normed},
        **used(c, parts, lambda: latent.deepseek_experts(c)),
        decoder=paired(["attention"] * len(parts), parts),
    )
