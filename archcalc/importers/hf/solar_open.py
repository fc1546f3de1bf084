"""Solar Open: biases on q, k and v, routed experts and a shared expert in every block."""

from archcalc.importers.hf._helpers.blocks import biased, decoder
from archcalc.importers.hf._helpers.latent import deepseek_experts
from archcalc.importers.hf._helpers.layer_types import paired
from archcalc.importers.hf._helpers.moe import all_sparse, used
from archcalc.importers.hf._helpers.reading import Config, Fields, when


def translate(c: Config, task: str) -> Fields:
    parts = all_sparse(c)
    normed = when(c.flag("use_qk_norm"), qk_norm="head")
    return decoder(
        c,
        task,
        attention={"bias": biased(qkv=c.flag("attention_bias")), **normed},
        **used(c, parts, lambda: deepseek_experts(c)),
        decoder=paired(["attention"] * len(parts), parts),
    )
