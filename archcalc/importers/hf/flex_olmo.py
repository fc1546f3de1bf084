"""FlexOlmo: OLMo 2 with MoE in every block."""

from archcalc.importers.hf._helpers import Config, Fields
from archcalc.importers.hf._helpers.moe import experts, mixtral_like


def translate(c: Config) -> Fields:
    return mixtral_like(
        c,
        experts(c, "num_experts", "intermediate_size"),
        attention={"bias": c.flag("attention_bias"), "qk_norm": "all"},
        norm={"kind": "rms", "place": "out"},
    )
