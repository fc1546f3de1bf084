"""Decoders built like GPT-2 and fairseq's: non-gated FFNs, biases everywhere, optional cross-attention."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import decoder, divided
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import activation


def gpt(c: Config, task: str, *, ffn: Fields, **more: Any) -> Fields:
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
    return decoder(c, task, **{**fields, **more})


def gpt2_like(c: Config, task: str, **more: Any) -> Fields:
    d_model = c.size("n_embd")
    ffn = {"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")}
    return gpt(c, task, ffn=ffn, **crossed(c, d_model, c.size("n_layer")), **more)


def crossed(c: Config, d_model: int, blocks: int) -> Fields:
    """The stack, with cross-attention to what another model read where the file asks for it."""
    if not c.flag("add_cross_attention"):
        return {"decoder": blocks}
    return {"cross": {"memory": d_model}, "decoder": stack(["attention cross ffn"] * blocks)}


def fairseq_decoder(c: Config, task: str, width: str, act: str, position: Fields) -> Fields:
    """`width` and `act` are the keys of the FFN."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return decoder(
        c,
        task,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size(width), "act": activation(c, act)},
        norm="layer",
        bias=True,
        position=position,
        **crossed(c, d_model, c.size("num_hidden_layers")),
    )


def alibi_decoder(c: Config, task: str, *, act: str, **more: Any) -> Fields:
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
        "head": heads.of_decoder(c, task),
        **more,
    }
