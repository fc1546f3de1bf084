"""YOSO and MRA: RoBERTa with approximate attention, which has the same parameters as full attention."""

from archcalc.importers.hf._helpers import Config, Fields, bert_like, heads, inert

TYPES = ("yoso", "mra")
USUAL = "masked"
INERT = {inert.NOT_HERE: "add_cross_attention"}


def translate(c: Config) -> Fields:
    if c.given("conv_window"):
        raise c.refused("conv_window")
    c.notes.append("the approximate attention of this class is counted as full attention")
    fields = bert_like.encoder(c)
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    own: heads.Table = {
        "base": heads.none,
        "choice": lambda: heads.classifier(1, pool="class", **{**hidden, "act": "relu"}),
        "answer": lambda: heads.classifier(heads.SPAN),  # whatever else there are labels for
    }
    return {
        **fields,
        "norm": bert_like.POST_NORM,
        "position": {**fields["position"], "offset": 2},
        "embedding": bert_like.typed(c),
        "encoder": c.size("num_hidden_layers"),
        "head": bert_like.head(c, hidden, own),
    }
