"""Falcon-H1: attention and Mamba 2 in parallel in every block, then an FFN."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, inert, mamba_layers

INERT = {
    inert.NO_SUCH_SIZE: "mamba_d_head mamba_expand",
    inert.ORDER: "mamba_norm_before_gate",
    inert.USUAL_LAYERS: "layers_block_type",
}
_SIDES = {(False, False): False, (True, False): ["in"], (False, True): ["out"], (True, True): True}


def translate(c: Config) -> Fields:
    """The gated norm of Mamba is optional; it normalises each group separately."""
    fields = mamba_layers.bamba_layer(c)
    bias = _SIDES[c.flag("mamba_proj_bias"), c.flag("projectors_bias")]
    normed: Fields = c.choose("mamba_rms_norm", {"norm_groups": fields["groups"]}, {"gate_norm": False})
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, bias=c.flag("mlp_bias")),
        mamba={**fields, "inner": c.size_or("mamba_d_ssm", fields["inner"]), **normed, "bias": bias},
        decoder={"blocks": c.size("num_hidden_layers"), "pattern": ["attention+mamba ffn"]},
    )
