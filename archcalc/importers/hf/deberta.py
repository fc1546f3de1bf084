"""DeBERTa v1: disentangled attention, whose key projection has no bias."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bert_like, deberta_like, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.weights import Weights

TYPES = ("deberta",)
USUAL = "masked"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads head_dim",
    inert.TRAINING: "pooler_dropout",
    inert.SUMMARY: "pooler_hidden_act",
}
WEIGHTS = Weights(fused={r".*attention\.self\.in_proj\.weight": 3})  # queries, keys and values


def translate(c: Config, task: str) -> Fields:
    if c.given("talking_head"):
        raise c.refused("talking_head")
    c.skip("conv_act")
    fields = bert_like.encoder(c)
    attention, blocks = {"bias": ["q", "v", "o"]}, c.size("num_hidden_layers")
    relative = _relative(c, fields["position"]["length"])
    return deberta_like.deberta(c, task, fields, relative, attention=attention, encoder=blocks)


def _relative(c: Config, length: int) -> list[Fields]:
    if c.flag("relative_attention") and c.given("pos_att_type"):
        c.notes.append(
            "for sequences shorter than the relative position table the class projects fewer positions; all are counted"
        )
    return deberta_like.relative(c, length, projects=True)
