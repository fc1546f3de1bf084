"""EuroBERT: Llama with bidirectional attention."""

from archcalc.importers.hf._helpers import Config, Fields, Value, bert_like, heads, inert

USUAL = "masked"
INERT = {inert.SUMMARY: "classifier_pooling"}


def translate(c: Config) -> Fields:
    c.skip("tie_word_embeddings")
    fields = {**bert_like.llama_encoder(c), "encoder": c.size("num_hidden_layers")}
    hidden = {"hidden": c.size("hidden_size"), "act": "gelu"}
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: _language(c),
        "sequence": lambda: heads.classifier(heads.labels(c), pool="class", **hidden),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.SPAN),
    }
    return {**fields, "head": heads.for_task(c, table)}


def _language(c: Config) -> Value:
    kind = heads.tied_or_own(c)
    return c.choose("mlp_bias", {"kind": kind, "bias": True}, kind)  # one key for both, in its class
