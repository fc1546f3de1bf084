"""DeBERTa v1: disentangled attention, whose key projection has no bias."""

from archcalc.importers.hf._helpers import Config, Fields, Weights, bert_like, deberta_like

USUAL = "masked"
WEIGHTS = Weights(fused={r".*attention\.self\.in_proj\.weight": 3})  # queries, keys and values


def translate(c: Config) -> Fields:
    if c.given("talking_head"):
        raise c.refused("talking_head")
    c.skip("conv_act")
    fields = bert_like.encoder(c)
    attention, blocks = {"bias": ["q", "v", "o"]}, c.size("num_hidden_layers")
    if c.flag("relative_attention") and c.given("pos_att_type"):
        fewer = "for sequences shorter than the relative position table the class projects fewer positions"
        c.notes.append(f"{fewer}; all are counted")
    relative = deberta_like.relative(c, fields["position"]["length"], projects=True)
    return deberta_like.deberta(c, fields, relative, attention=attention, encoder=blocks)
