"""LED: BART with Longformer attention in its encoder; encoder and decoder position tables differ in length."""

from typing import Any

from archcalc.importers.hf._helpers import bart_like, heads
from archcalc.importers.hf._helpers.longformer_like import windows
from archcalc.importers.hf._helpers.patterns import spelled_out
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.words import activation

USUAL = "seq2seq"


def translate(c: Config, task: str) -> Fields:
    attention, variants, blocks = windows(c, c.size("encoder_layers"))
    narrow = {"attention": attention, **when(variants, variants=variants)}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": bart_like.POST_NORM,
        "embedding": {"norm": True, **bart_like.shared_table(c)},
        "encoder": {**_stack(c, "encoder"), **narrow, **spelled_out(blocks)},
        "decoder": {**_stack(c, "decoder"), "blocks": c.size("decoder_layers")},
        "head": _head(c, task),
    }


def _stack(c: Config, name: str) -> Fields:
    return {
        "heads": c.size(f"{name}_attention_heads"),
        "ffn": c.size(f"{name}_ffn_dim"),
        "position": {"kind": "learned", "length": c.size(f"max_{name}_position_embeddings")},
    }


def _head(c: Config, task: str) -> Any:
    table: heads.Table = {
        "base": heads.none,
        "seq2seq": lambda: heads.tied_or_own(c),
        "answer": lambda: heads.classifier(heads.SPAN),  # the class itself sets two labels
    }
    return heads.for_task(c, task, table)
