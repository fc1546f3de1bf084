"""LFM2 MoE: short gated convolutions with a few attention layers; dense blocks first, then MoE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, lfm2_like, top, when, where_used
from archcalc.importers.hf._helpers.layer_types import full, paired
from archcalc.importers.hf._helpers.moe import first_dense

INERT = {
    inert.NO_SUCH_SIZE: "conv_dim conv_dim_out block_dim",
    inert.NOT_HERE: "use_expert_bias block_use_swiglu tie_embedding",
}


def translate(c: Config) -> Fields:
    mixers, parts = lfm2_like.conv_mixers(c, full(c)), first_dense(c, "num_dense_layers")
    c.skip("intermediate_size", "moe_intermediate_size", "num_experts", "num_experts_per_tok")
    return decoder(
        c,
        **lfm2_like.convolutions(c, mixers),
        **where_used(parts, ffn=lambda: _ffn(c), moe=lambda: _experts(c)),
        decoder=paired(mixers, parts),
        head=lfm2_like.lfm2_head(c),
    )


def _ffn(c: Config) -> Fields:
    return {"width": c.size("intermediate_size"), "act": "silu", "gated": True}


def _experts(c: Config) -> Fields:
    number, steered = c.size("num_experts"), when(c.flag("use_expert_bias"), correction=True)
    return {"experts": number, "top": top(c, number), "width": c.size("moe_intermediate_size"), **steered}
