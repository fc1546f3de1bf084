"""LED: BART with Longformer attention in its encoder; encoder and decoder position tables differ in length."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import bart_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.longformer_like import windows
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("led",)
USUAL = "seq2seq"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.TOKENS: "decoder_start_token_id",
}


def translate(c: Config, task: str) -> Fields:
    attention, variants, blocks = windows(c, c.size("encoder_layers"))
    narrow: Fields = {"attention": attention, **({"variants": variants} if variants else {})}
    stack = blocks if isinstance(blocks, dict) else {"blocks": blocks}
    return {
        "vocab": c.size("vocab_size"),
        "d_model": c.size("d_model"),
        "ffn": {"act": activation(c, "activation_function")},
        "norm": bart_like.POST_NORM,
        "embedding": {"norm": True, **bart_like.shared_table(c)},
        "encoder": {**_stack(c, "encoder"), **narrow, **stack},
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
