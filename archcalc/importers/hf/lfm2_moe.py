"""LFM2 MoE: short gated convolutions with a few attention layers; dense blocks first, then MoE."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder, top, where_used
from archcalc.importers.hf._helpers.layer_types import full, paired
from archcalc.importers.hf._helpers.lfm2_like import conv_mixers, convolutions, lfm2_head
from archcalc.importers.hf._helpers.moe import first_dense
from archcalc.importers.hf._helpers.reading import Config, Fields, when

INERT = {
    inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
    inert.NOT_HERE: "use_expert_bias block_use_swiglu tie_embedding",
}


def translate(c: Config, task: str) -> Fields:
    mixers, parts = conv_mixers(c, full(c)), first_dense(c, "num_dense_layers")
    c.skip("intermediate_size", "moe_intermediate_size", "num_experts", "num_experts_per_tok")
    return decoder(
        c,
        task,
        **convolutions(c, mixers),
        **where_used(parts, ffn=lambda: _ffn(c), moe=lambda: _experts(c)),
        decoder=paired(mixers, parts),
        head=lfm2_head(c, task),
    )


def _ffn(c: Config) -> Fields:
    return {"width": c.size("intermediate_size"), "act": "silu", "gated": True}


def _experts(c: Config) -> Fields:
    number, steered = c.size("num_experts"), when(c.flag("use_expert_bias"), correction=True)
    return {"experts": number, "top": top(c, number), "width": c.size("moe_intermediate_size"), **steered}
