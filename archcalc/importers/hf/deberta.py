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
    relative = _relative(c, fields["position"]["length"])
    return deberta_like.deberta(c, fields, relative, attention=attention, encoder=blocks)


def _relative(c: Config, length: int) -> list[Fields]:
    if c.flag("relative_attention") and c.given("pos_att_type"):
        c.notes.append(
            "for sequences shorter than the relative position table the class projects fewer positions; all are counted"
        )
    return deberta_like.relative(c, length, projects=True)
