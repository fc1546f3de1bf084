"""ELECTRA: BERT with embeddings that may be narrower; its discriminator predicts which tokens were replaced."""

from archcalc.importers.hf._helpers import Config, Fields, activation, bert_like, heads, inert, when

USUAL = "masked"
INERT = {inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"}


def translate(c: Config) -> Fields:
    width = c.size("embedding_size")
    narrow = when(width != c.size("hidden_size"), width=width)
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    own: heads.Table = {
        "base": heads.none,
        "masked": lambda: bert_like.language(c, twice=False),
        "causal": lambda: bert_like.language(c, twice=False),
        "pretraining": lambda: heads.classifier(1, **{**hidden, "act": activation(c)}),
        "choice": lambda: heads.classifier(1, **{"pool": "class", **_summary(c)}),
    }
    return bert_like.bert(c, embedding=bert_like.typed(c, **narrow), head=bert_like.head(c, hidden, own))


def _summary(c: Config) -> Fields:
    """The sequence summary has its own dense layer, unless it is switched off."""
    if c.given("summary_proj_to_labels"):
        raise c.refused("summary_proj_to_labels")
    return when(c.flag("summary_use_proj"), hidden=c.size("hidden_size"))
