"""JetMoE: MoE in attention as well; each attention expert has its own query and output projections."""

from archcalc.importers.hf._helpers import Config, Fields, Weights, activation, decoder, inert, rope, top
from archcalc.importers.hf._helpers.layer_types import stack

INERT = {inert.NO_SUCH_SIZE: "num_attention_heads"}
WEIGHTS = Weights(
    fused={
        r".*self_attention\.kv_proj\.weight": 2,  # keys and values
        r".*self_attention\.experts\.input_linear\.weight": 1,  # queries alone: no gate stands beside them
    }
)


def translate(c: Config) -> Fields:
    experts, kv_heads = c.size("num_local_experts"), c.size("num_key_value_heads")
    chosen = top(c, experts)
    return decoder(
        c,
        heads=kv_heads * chosen,
        kv_heads=kv_heads,
        head_dim=c.size("kv_channels"),
        position=rope(c, c.size("kv_channels")),
        attention={"experts": experts, "top": chosen, "bias": ["o"]},
        ffn=None,
        moe={
            "experts": experts,
            "top": chosen,
            "width": c.size("intermediate_size"),
            "act": activation(c, "activation_function"),
            "out_bias": True,
        },
        decoder=stack(["attention moe"] * c.size("num_hidden_layers")),
    )
