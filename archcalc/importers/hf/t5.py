"""The T5 family: relative position bias, one token embedding for encoder and decoder, RMS norms, no biases.

Whether the head is that table too, a config says by `tie_word_embeddings`: T5 v1.1, Flan-T5, mT5 and UMT5 say false,
and their checkpoints hold a head of their own. transformers 5 ties the head of a class that it builds without weights,
and leaves that of a loaded checkpoint apart (huggingface/transformers, pull request 47620).
"""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, heads, inert, when

UNTOLD = (
    "transformers 5 writes tie_word_embeddings: true whatever the checkpoint contains: the head is counted as the token"
    " table, and a checkpoint with an lm_head.weight of its own has that besides"
)
_OLDER_VERSIONS = ("", "0", "1", "2", "3", "4")
USUAL = "seq2seq"
_NEVER_TIED = {inert.NOT_HERE: "scale_decoder_outputs tie_word_embeddings", inert.UNREAD: "n_positions"}
INERT = {
    "t5": {inert.NOT_HERE: "scale_decoder_outputs", inert.UNREAD: "n_positions"},
    "mt5": _NEVER_TIED,
    "longt5": _NEVER_TIED,
}


def _t5(c: Config, language_head: str, **positions: Value) -> Fields:
    """`language_head` is tied or lm; `positions` are further options of the relative position bias."""
    if c.given("quantization_config"):
        c.notes.append("transformers does not quantise T5's wo; it is counted as quantised like the rest")
    buckets = c.size("relative_attention_num_buckets")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "heads": c.size("num_heads"),
        "head_dim": c.size("d_kv"),
        "ffn": _ffn(c),
        "norm": "rms",
        "bias": False,
        "position": {"kind": "relative", "buckets": buckets, **positions},
        **_stacks(c),
        "head": _head(c, language_head),
    }


def _stacks(c: Config) -> Fields:
    """Both, with one table; a class with one stack is built like a decoder if is_decoder is set."""
    blocks, further = c.size("num_layers"), c.size_or("num_decoder_layers", c.own("num_layers"))
    decodes = c.flag("is_decoder")
    if c.task not in ("encoder", "token"):
        return {"embedding": {"shared": True}, "encoder": blocks, "decoder": further}
    if not decodes:
        return {"encoder": blocks}
    crossed = {"blocks": blocks, "pattern": ["attention cross ffn"]}
    return {"cross": {"memory": c.size("d_model")}, "decoder": crossed}


def _ffn(c: Config) -> Fields:
    """`gated-gelu` is the tanh kind, as the classes have it; what a file says of act and gate apart is set last."""
    gate, _, act = c.text("feed_forward_proj").rpartition("-")
    if gate not in ("", "gated"):
        raise c.refused("feed_forward_proj")
    if gate and act == "gelu":
        act = "gelu_new"
    key, said = "feed_forward_proj", c.given("dense_act_fn")
    if said:
        key = "dense_act_fn"
    gated = bool(gate)
    if "is_gated_act" in c.said:
        gated = c.given_flag("is_gated_act")
    return {"width": c.size("d_ff"), "act": activation(c, key, said or act), **when(gated, gated=True)}


def _head(c: Config, language_head: str) -> Value:
    table: heads.Table = {
        "base": heads.none,
        "encoder": heads.none,
        "seq2seq": lambda: language_head,
        "sequence": lambda: heads.classifier(heads.labels(c), pool="last", hidden=c.size("d_model")),
        "token": lambda: heads.classifier(heads.labels(c)),
        "answer": lambda: heads.classifier(heads.labels(c)),
    }
    return heads.for_task(c, table)


def _head_of_checkpoint(c: Config, *, overwritten: bool) -> str:
    """A checkpoint may hold a head where the class that is built without one does not; `overwritten`: transformers 5
    writes true in the place of such a checkpoint's false."""
    if c.task != "seq2seq":
        return "none"
    if c.given("tie_word_embeddings") is not False:
        version = str(c.given("transformers_version") or "").split(".")[0]
        if overwritten and version not in _OLDER_VERSIONS:
            c.notes.append(UNTOLD)
        return "tied"
    c.head_in_checkpoint = True
    return "lm"


def t5(c: Config, *, overwritten: bool | None = None, **positions: Value) -> Fields:
    """T5, T5 v1.1 and UMT5: an encoder-decoder with relative position bias and one shared token embedding.

    Only T5 configs also record an untied head in another key, which tells v1.1 from the original."""
    if overwritten is None:
        overwritten = c.given("scale_decoder_outputs") is False
    return _t5(c, _head_of_checkpoint(c, overwritten=overwritten), **positions)


def mt5(c: Config) -> Fields:
    """mT5: multilingual T5 v1.1."""
    return _t5(c, _head_of_checkpoint(c, overwritten=True))


def longt5(c: Config) -> Fields:
    """LongT5: T5 whose encoder uses local or transient-global attention.

    Its checkpoints contain one tied token embedding, whatever the config says."""
    if c.text("encoder_attention_type") != "local":
        raise c.refused("encoder_attention_type", "transient-global tokens are not counted")
    c.notes.append("the encoder's blocked local attention is counted as full attention")
    if c.task == "seq2seq" and c.given("tie_word_embeddings") is False:
        c.notes.append(
            "tie_word_embeddings is false, but LongT5 checkpoints contain one tied embedding: that is counted"
        )
    return _t5(c, "tied")


TYPES = {"umt5": partial(t5, overwritten=True, per="block")}
