"""BART and other encoder-decoders with one token embedding for both."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    Weights,
    activation,
    bart_like,
    heads,
    inert,
    when,
)
from archcalc.importers.hf._helpers.layer_types import longformer_windows, spelled_out, stack
from archcalc.importers.hf._helpers.moe import sparse_where

USUAL = "seq2seq"
WEIGHTS = {
    "_nllb_moe": Weights(numbered=r"\.expert_\d+"),  # experts one by one
}
INERT = {
    "bart": {**bart_like.INERT, inert.UNREAD: "add_bias_logits prompt_length prompt_mid_dim"},
    "bigbird_pegasus": {**bart_like.INERT, inert.APPROXIMATE: "block_size"},
    "fsmt": {inert.NOT_HERE: "decoder"},
    "m2m_100": {
        inert.NO_SUCH_SIZE: "extra_pos_embeddings",
        inert.ORDER: "normalize_before normalize_embedding add_final_layer_norm static_position_embeddings",
        inert.UNREAD: "add_bias_logits",
    },
    "marian": bart_like.INERT,
    "mbart": bart_like.INERT,
}


def bart(c: Config) -> Fields:
    """BART, PLBART and MVP: post-norm, a norm after the embedding, learned positions offset by two rows."""
    position = bart_like.positions(c, "learned", offset=bart_like.OFFSET)
    return bart_like.bart(c, norm=bart_like.POST_NORM, position=position, embedding_norm=True)


def bigbird_pegasus(c: Config) -> Fields:
    """BigBird-Pegasus: pre-norm BART with optional block-sparse attention in its encoder."""
    if c.text("attention_type") != "original_full":
        c.notes.append("block-sparse attention is counted as full attention, which the class uses for short sequences")
    attention, position = {"bias": c.flag("use_bias")}, bart_like.positions(c, "learned")
    head = bart_like.head(c, causal=lambda: "lm")  # a decoder alone is never tied
    return bart_like.bart(c, attention=attention, position=position, head=head)


def fsmt(c: Config) -> Fields:
    """FSMT (fairseq translation models): a vocabulary for each language, sinusoidal positions stored as parameters."""
    heads.only(c, "base", "seq2seq")
    tied, vocabularies = c.flag("tie_word_embeddings"), {c.size("src_vocab_size"), c.size("tgt_vocab_size")}
    if tied and len(vocabularies) > 1:
        raise c.refused(
            "tie_word_embeddings", "one shared embedding for two different vocabularies: such a model cannot run"
        )
    padding = c.get("pad_token_id")
    length = c.size("max_position_embeddings") + padding + 1  # rows in front, up to that of padding, are used by none
    return {
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": bart_like.POST_NORM,
        "position": {"kind": "sinusoidal", "length": length, "stored": True},
        "embedding": when(tied, shared=True),
        "encoder": {"vocab": c.size("src_vocab_size"), **bart_like.stack_of(c, "encoder")},
        "decoder": {"vocab": c.size("tgt_vocab_size"), **bart_like.stack_of(c, "decoder")},
        "head": heads.tied_or_own(c),  # of the bare model too, which has one
    }


def led(c: Config) -> Fields:
    """LED: BART with Longformer attention in its encoder; encoder and decoder position tables differ in length."""
    attention, variants, blocks = longformer_windows(c, c.size("encoder_layers"))
    narrow = {"attention": attention, **when(variants, variants=variants)}
    table: heads.Table = {
        "base": heads.none,
        "seq2seq": lambda: heads.tied_or_own(c),
        "answer": lambda: heads.classifier(heads.SPAN),  # the class itself sets two labels
    }
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": bart_like.POST_NORM,
        "embedding": {"norm": True, **bart_like.shared_table(c)},
        "encoder": {**_stack(c, "encoder"), **narrow, **spelled_out(blocks)},
        "decoder": {**_stack(c, "decoder"), "blocks": c.size("decoder_layers")},
        "head": heads.for_task(c, table),
    }


def _stack(c: Config, name: str) -> Fields:
    return {
        "heads": c.size(f"{name}_attention_heads"),
        "ffn": c.size(f"{name}_ffn_dim"),
        "position": {"kind": "learned", "length": c.size(f"max_{name}_position_embeddings")},
    }


def m2m_100(c: Config) -> Fields:
    """M2M-100 and NLLB: pre-norm BART with sinusoidal positions."""
    return bart_like.bart(c, position=bart_like.positions(c, "sinusoidal"))


def marian(c: Config) -> Fields:
    """Marian translation models: BART with sinusoidal positions stored as parameters, optional separate
    vocabularies."""
    alone, vocab, tied = c.task == "causal", c.size("vocab_size"), c.flag("tie_word_embeddings")
    decoder_vocab, shares = c.size_or("decoder_vocab_size", vocab), c.flag("share_encoder_decoder_embeddings")
    if shares and tied and not alone:
        decoder_vocab = vocab
    tables = when(not shares, embedding={})
    fields = bart_like.bart(
        c, norm=bart_like.POST_NORM, position=bart_like.positions(c, "sinusoidal", stored=True), **tables
    )
    if decoder_vocab == vocab:
        return fields
    if alone:
        return {**fields, "vocab": decoder_vocab, "head": _head_of(vocab, fields["head"])}
    fields["decoder"] = {**fields["decoder"], "vocab": decoder_vocab}
    return {**fields, **when(shares, head=_head_of(vocab, fields["head"]))}


def _head_of(vocab: int, head: Value) -> Value:
    """An untied head has vocab_size rows, whatever the decoder's vocabulary."""
    if head == "lm":
        return {"kind": "lm", "vocab": vocab}
    return head


def mbart(
    c: Config, *, norm: Fields | None = None, embedding_norm: bool = False, kind: str = "learned", **positions: Value
) -> Fields:
    """mBART, Pegasus and Blenderbot: BART with other positions, and norms in other places.

    `kind` and `positions` are of the position encoding."""
    position = bart_like.positions(c, kind, **positions)
    return bart_like.bart(c, norm=norm, position=position, embedding_norm=embedding_norm)


def _nllb_moe(c: Config) -> Fields:
    """NLLB-MoE: M2M-100 with MoE blocks at a fixed interval, which route each token to two experts."""
    act = activation(c, "activation_function")
    table: heads.Table = {"base": heads.none, "seq2seq": lambda: heads.tied_or_own(c)}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "position": bart_like.positions(c, "sinusoidal"),
        "embedding": bart_like.shared_table(c),
        "encoder": _nllb_moe_stack(c, "encoder", "attention", act),
        "decoder": _nllb_moe_stack(c, "decoder", "attention cross", act),
        "head": heads.for_task(c, table),
    }


def _nllb_moe_stack(c: Config, name: str, mixers: str, act: str) -> Fields:
    step, blocks, width = c.count(f"{name}_sparse_step"), c.size(f"{name}_layers"), c.size(f"{name}_ffn_dim")
    parts = sparse_where(c, lambda block: step and (block + 1) % step == 0, blocks)
    found = stack([f"{mixers} {part}" for part in parts], usual=f"{mixers} ffn")
    number, bias = c.size("num_experts"), when(c.flag("router_bias"), router_bias=True)
    sizes = {"experts": number, "top": min(2, number), "width": width}  # the router selects two
    experts = {**sizes, "act": act, "gated": False, "bias": True, **bias}
    described = {"ffn": {"width": width, "act": act}, "moe": experts}
    return {
        **spelled_out(found),
        "heads": c.size(f"{name}_attention_heads"),
        **{part: fields for part, fields in described.items() if part in parts},
    }


TYPES = {
    "plbart": bart,
    "mvp": bart,
    "blenderbot": mbart,
    "blenderbot-small": partial(mbart, norm=bart_like.POST_NORM, embedding_norm=True),
    "mbart": partial(mbart, embedding_norm=True, offset=bart_like.OFFSET),
    "pegasus": partial(mbart, kind="sinusoidal", stored=True),
    "nllb-moe": _nllb_moe,
}
