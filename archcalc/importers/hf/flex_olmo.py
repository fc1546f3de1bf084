"""FlexOlmo: OLMo 2 with MoE in every block."""

from archcalc.importers.hf._helpers.moe import experts, mixtral_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return mixtral_like(
        c,
        task,
        experts(c, "num_experts", "intermediate_size"),
        attention={"bias": c.flag("attention_bias"), "qk_norm": "all"},
        norm={"kind": "rms", "place": "out"},
    )
