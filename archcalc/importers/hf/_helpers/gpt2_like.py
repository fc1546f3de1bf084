"""Decoders built like GPT-2 and fairseq's: non-gated FFNs, biases everywhere, optional cross-attention."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, Value, activation, decoder, divided, heads
from archcalc.importers.hf._helpers.patterns import stack


def gpt(c: Config, *, ffn: Fields, **more: Value) -> Fields:
    """GPT-1 and its like, whose sizes are called n_embd, n_head and n_positions."""
    d_model, number = c.size("n_embd"), c.size("n_head")
    fields = {
        "heads": number,
        "kv_heads": number,
        "head_dim": d_model // number,
        "ffn": {"gated": False, **ffn},
        "norm": "layer",
        "bias": True,
        "position": {"kind": "learned", "length": c.size("n_positions")},
    }
    return decoder(c, **{**fields, **more})


def gpt2(c: Config, **more: Value) -> Fields:
    d_model = c.size("n_embd")
    ffn = {"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")}
    return gpt(c, ffn=ffn, **crossed(c, d_model, c.size("n_layer")), **more)


def crossed(c: Config, d_model: int, blocks: int) -> Fields:
    """The stack, with cross-attention to what another model read where the file asks for it."""
    if not c.flag("add_cross_attention"):
        return {"decoder": blocks}
    return {"cross": {"memory": d_model}, "decoder": stack(["attention cross ffn"] * blocks)}


def alibi_decoder(c: Config, *, act: str, **more: Value) -> Fields:
    """BLOOM and MPT: an FFN four times as wide as the model, which older files call n_embed."""
    d_model, number = c.given("n_embed") or c.size("hidden_size"), c.size("num_attention_heads")
    c.skip("hidden_size")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": divided(c, d_model, number),
        "ffn": {"width": 4 * d_model, "act": act},
        "decoder": stack(["attention ffn"] * c.size("num_hidden_layers")),
        "head": heads.of_decoder(c),
        **more,
    }
