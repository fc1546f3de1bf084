"""GPT-2 and its heir StarCoder (gpt_bigcode), which can do with one key-value head."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation

TYPES = ("gpt2", "gpt-sw3", "gpt_bigcode")
USUAL = "causal"
INERT = (
    "n_ctx head_dim summary_type summary_use_proj summary_activation summary_proj_to_labels scale_attn_weights"
    " scale_attn_by_inverse_layer_idx reorder_and_upcast_attn attention_softmax_in_fp32 num_key_value_heads"
)


def translate(c: Config, task: str) -> Fields:
    d_model, number = c.size("n_embd"), c.size("n_head")
    one = c.type == "gpt_bigcode" and c.flag("multi_query")
    crossed = c.flag("add_cross_attention")
    if one and crossed:
        raise c.refused("add_cross_attention", "the class has no cross-attention with multi_query")
    line = "attention cross ffn" if crossed else "attention ffn"
    return decoder(
        c,
        task,
        heads=number,
        kv_heads=1 if one else number,
        head_dim=d_model // number,
        ffn={"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function"), "gated": False},
        cross={"memory": d_model} if crossed else None,
        norm="layer",
        bias=True,
        position={"kind": "learned", "length": c.size("n_positions")},
        decoder=stack([line] * c.size("n_layer")),
        head=_two_heads(c) if task == "double" else heads.of_decoder(c, task),
    )


def _two_heads(c: Config) -> Fields:
    """A language model that also gives a text one number, by which to choose; it may give a vector instead."""
    kind = heads.of_decoder(c, "causal")
    classes = 1 if c.given("summary_proj_to_labels") else c.size("n_embd")
    pool = {"first": "class", "mean": "mean"}.get(c.text("summary_type"), "last")
    second = {"kind": "classifier", "classes": classes, "bias": True, "pool": pool}
    return {"kind": kind, **({"beside": second} if c.given("summary_use_proj") else {})}
