"""DeBERTa v2 and v3: disentangled attention, bucketed relative positions, optional convolution in the first block."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, deberta_like, when

TYPES = ("deberta-v2",)
USUAL = "masked"


def translate(c: Config) -> Fields:
    fields = bert_like.encoder(c)
    if c.size_or("attention_head_size", fields["head_dim"]) != fields["head_dim"]:
        why = "the output projection takes hidden_size inputs, so such a model can be built but not run"
        raise c.refused("attention_head_size", why)
    shared, buckets = c.given_flag("share_att_key"), c.given("position_buckets") or -1
    normed, length = when(_normed(c), norm=True), fields["position"]["length"]
    relative = deberta_like.relative(c, length, projects=not shared, buckets=buckets, **normed)
    return deberta_like.deberta(c, fields, relative, **_own(c))


def _own(c: Config) -> Fields:
    """An optional convolution in the first block; the relative position norm exists even without relative attention."""
    blocks, d_model = c.size("num_hidden_layers"), c.size("hidden_size")
    kernel, groups = c.given("conv_kernel_size") or 0, c.given("conv_groups") or 1
    c.skip("conv_act")
    kept = _normed(c) and not c.flag("relative_attention")
    spare = when(kept, relative_norm_weight=[d_model], relative_norm_bias=[d_model])
    if kernel < 1:
        return {"encoder": blocks, "spare": spare}
    convolution = {"kernel": kernel, "groups": groups, "act": "tanh"}
    return {"conv": convolution, "encoder": {"blocks": blocks, "once": ["conv"]}, "spare": spare}


def _normed(c: Config) -> bool:
    return "layer_norm" in str(c.given("norm_rel_ebd") or "none").lower()
