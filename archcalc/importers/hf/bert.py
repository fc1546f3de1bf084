"""BERT, and encoders that differ from it in their embeddings or heads."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, bert_like, heads, inert, when

_PREDICT_WORDS = (
    *("bert", "albert", "distilbert", "electra", "layoutlm", "_megatron_bert"),
    *("rembert", "roberta", "roc_bert", "tapas"),
)
USUAL = {**dict.fromkeys(_PREDICT_WORDS, "masked"), "dpr": "base", "splinter": "base", "_tower": "base"}
INERT = {
    "bert": {inert.NOT_HERE: "task_type_vocab_size", inert.SUMMARY: "summary_proj_to_labels"},
    "albert": {inert.UNREAD: "net_structure_type gap_size num_memory_blocks down_scale_factor"},
    "electra": {inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"},
    "_megatron_bert": {inert.SUMMARY: "summary_proj_to_labels"},
    "roberta": {inert.SUMMARY: "summary_proj_to_labels"},
}


def bert(c: Config) -> Fields:
    """BERT and ERNIE: post-norm, token type embeddings, a pooler; ERNIE has optional task type embeddings."""
    types: Value = c.count("type_vocab_size")
    if c.flag("use_task_id"):
        types = [types, c.size("task_type_vocab_size")]
    embedding = {"norm": True, "types": types}
    return bert_like.bert(c, embedding=embedding, head=bert_like.head(c, bert_like.POOLER))


def albert(c: Config) -> Fields:
    """ALBERT: BERT with factorised embeddings, and blocks that share their weights."""
    each, groups, layers = c.size("inner_group_num"), c.size("num_hidden_groups"), c.size("num_hidden_layers")
    width = c.size("embedding_size")
    projected = when(width == c.size("hidden_size"), always_project=True)
    distinct = when(groups != layers, distinct=groups * each)
    own: heads.Table = {"pretraining": lambda: bert_like.language_and_pair(c, heads.labels(c))}
    embedding, head = bert_like.typed(c, width=width, **projected), bert_like.head(c, bert_like.POOLER, own)
    return bert_like.bert(c, embedding=embedding, encoder={"blocks": layers * each, **distinct}, head=head)


def _bert_generation(c: Config) -> Fields:
    """BertGeneration: BERT without token types; its head is the tied token embedding plus a bias."""
    head = heads.of_decoder(c, bias=True)
    if c.task == "causal" and head["kind"] == "lm":
        head = {"kind": "lm", "bias": "twice"}  # untied, the class has a second one
    return bert_like.bert(c, embedding={"norm": True}, head=head)


def distilbert(c: Config) -> Fields:
    """DistilBERT: BERT without token types and pooler."""
    d_model, number = c.size("dim"), c.size("n_heads")
    kind: Fields = c.choose("sinusoidal_pos_embds", {"kind": "sinusoidal", "stored": True}, {"kind": "learned"})
    c.skip("tie_word_embeddings")
    dense = {"hidden": d_model, "act": "relu"}
    table: heads.Table = {
        "base": heads.none,
        "masked": lambda: bert_like.language(c, twice=False),
        **bert_like.classifiers(c, dense, choice=dense),
    }
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "ffn": {"width": c.size("hidden_dim"), "act": activation(c, "activation")},
        "norm": bert_like.POST_NORM,
        "position": {**kind, "length": c.size("max_position_embeddings")},
        "embedding": {"norm": True},
        "encoder": c.size("n_layers"),
        "head": heads.for_task(c, table),
    }


def dpr(c: Config) -> Fields:
    """DPR: a BERT encoder with an optional projection, or a reader that extracts answer spans."""
    width = c.count("projection_dim")
    if c.task == "reader" and width:
        raise heads.refuse(c)
    table: heads.Table = {
        "base": lambda: heads.classifier(width, pool="class") if width else "none",
        "reader": lambda: heads.classifier(heads.SPAN, beside=heads.classifier(1, pool="class")),
    }
    return bert_like.bert(c, head=heads.for_task(c, table))


def electra(c: Config) -> Fields:
    """ELECTRA: BERT with embeddings that may be narrower; its discriminator predicts which tokens were replaced."""
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


def layoutlm(c: Config) -> Fields:
    """LayoutLM: BERT with additional 2-D position embeddings for the bounding box of each word.

    One table for left and right x, one for upper and lower y, then height and width."""
    tables = [c.count("type_vocab_size"), *[c.size("max_2d_position_embeddings")] * 4]
    head = bert_like.with_pooler(bert_like.head(c, bert_like.POOLER))
    return bert_like.bert(c, embedding={"norm": True, "types": tables}, head=head)


def _megatron_bert(c: Config) -> Fields:
    """Megatron-BERT: pre-norm BERT without a norm after the embedding."""
    embedding, head = {"types": c.count("type_vocab_size")}, bert_like.head(c, bert_like.POOLER)
    return bert_like.bert(c, norm=None, embedding=embedding, head=head)


def rembert(c: Config) -> Fields:
    """RemBERT: BERT with a narrow input embedding and a wider, untied output embedding."""
    width = c.size("input_embedding_size")
    always = when(width == c.size("hidden_size"), always_project=True)
    c.skip("output_embedding_size")
    own: heads.Table = {"masked": lambda: _language(c, width), "causal": lambda: _language(c, width)}
    head = bert_like.head(c, bert_like.POOLER, own)
    return bert_like.bert(c, embedding=bert_like.typed(c, width=width, **always), head=head)


def _language(c: Config, width: int) -> Fields:
    wide, kind = c.size("output_embedding_size"), heads.tied_or_own(c)
    if wide == width:
        return {"kind": kind, "bias": True, "transform": True}
    if kind == "tied":
        raise c.refused("tie_word_embeddings", "the table that comes out is not as wide as the one that goes in")
    return {"kind": "lm", "bias": True, "transform": wide}


def roberta(c: Config, *, norm: Fields | None = bert_like.POST_NORM, embedding_norm: bool = True) -> Fields:
    """RoBERTa and its like: BERT whose position ids start after the padding index; some of them are pre-norm."""
    embedding = {**when(embedding_norm, norm=True), "types": c.count("type_vocab_size")}
    head, position = bert_like.head(c, {"hidden": c.size("hidden_size")}), bert_like.positions_behind_padding(c)
    return bert_like.bert(c, norm=norm, position=position, embedding=embedding, head=head)


def roc_bert(c: Config) -> Fields:
    """RoCBert: BERT with additional glyph and pronunciation embeddings, concatenated with the token embedding."""
    joined, spare = _tables(c)
    embedding = bert_like.typed(c, **when(joined, joined=list(joined.values())))
    # the pooler of the pretraining class is used only for its contrastive loss, which is not counted
    pretraining = {"pretraining": lambda: {**bert_like.language(c), "beside": bert_like.pooled()}}
    head = bert_like.head(c, bert_like.POOLER, pretraining)
    return bert_like.bert(c, embedding=embedding, head=head, spare=spare or None)


def _tables(c: Config) -> tuple[Fields, Fields]:
    """The embedding tables that the forward pass uses, and those that are stored but unused."""
    tables = {name: [c.size(f"{name}_vocab_size"), c.size(f"{name}_embed_dim")] for name in ("shape", "pronunciation")}
    joins, there = c.flag("concat_input"), {name for name in tables if c.flag(f"enable_{name}")}
    if joins and not there:
        raise c.refused("concat_input", "there is no other embedding to concatenate with the token embedding")
    if there and not joins:
        c.notes.append("glyph and pronunciation embeddings are counted as parameters, but not used in the forward pass")
    read = {name: sizes for name, sizes in tables.items() if joins and name in there}
    return read, {f"{name}_embed": sizes for name, sizes in tables.items() if name not in read}


def splinter(c: Config) -> Fields:
    """Splinter's bare encoder: BERT without a pooler."""
    heads.only(c, "base")
    return bert_like.bert(c, head="none")


def tapas(c: Config) -> Fields:
    """TAPAS: BERT with additional embeddings for a token's row, column and rank in a table."""
    said = c.get("type_vocab_sizes")
    if not isinstance(said, list) or not all(isinstance(rows, int) and rows > 0 for rows in said):
        raise c.wrong("type_vocab_sizes", "a list of sizes")
    return bert_like.bert(c, embedding={"norm": True, "types": said}, head=bert_like.head(c, bert_like.POOLER))


def _tower(c: Config) -> Fields:
    """Text encoder of Chinese CLIP: BERT, never a decoder."""
    heads.only(c, "base")
    return bert_like.bert(c, encoder=c.size("num_hidden_layers"), head=bert_like.pooled())


TYPES = {
    "chinese_clip_text_model": _tower,
    **dict.fromkeys(("xlm-roberta", "camembert", "data2vec-text", "ibert"), roberta),
    "bert-generation": _bert_generation,
    "ernie": bert,
    "megatron-bert": _megatron_bert,
    "roberta-prelayernorm": partial(roberta, norm=None),
    "xlm-roberta-xl": partial(roberta, norm=None, embedding_norm=False),
}
