"""LED: BART with Longformer attention in its encoder; encoder and decoder position tables differ in length."""

from archcalc.importers.hf._helpers import Config, Fields, activation, bart_like, heads, longformer_like, when
from archcalc.importers.hf._helpers.patterns import spelled_out

USUAL = "seq2seq"


def translate(c: Config) -> Fields:
    attention, variants, blocks = longformer_like.windows(c, c.size("encoder_layers"))
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
