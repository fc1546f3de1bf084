"""GPT-2 and others with non-gated FFNs and biases everywhere, and optional cross-attention."""

from functools import partial

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Value,
    activation,
    decoder,
    divided,
    heads,
    inert,
    rope_of,
    when,
)
from archcalc.importers.hf._helpers.layer_types import stack

USUAL = {"imagegpt": "pixels"}
INERT = {
    "gpt2": {inert.NO_SUCH_SIZE: "n_ctx", inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"},
    "gpt_bigcode": {inert.NO_SUCH_SIZE: "n_ctx"},
    "gptj": {inert.NO_SUCH_SIZE: "n_ctx"},
    "ctrl": {inert.NO_SUCH_SIZE: "n_ctx"},
    "_openai_gpt": {inert.NO_SUCH_SIZE: "n_ctx", inert.SUMMARY: "summary_type summary_use_proj summary_proj_to_labels"},
    "bloom": {
        inert.NO_SUCH_SIZE: "seq_length n_inner",
        inert.ORDER: "apply_residual_connection_post_layernorm",
        inert.UNREAD: "skip_bias_add skip_bias_add_qkv",
    },
    "mpt": {
        inert.NO_SUCH_SIZE: "expansion_ratio seq_length n_inner",
        inert.UNREAD: "skip_bias_add skip_bias_add_qkv no_bias learned_pos_emb attn_config norm_type",
    },
}
_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu", "silu": "silu", "swish": "silu"}  # the words of its files


def _gpt(c: Config, *, ffn: Fields, **more: Value) -> Fields:
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


def _gpt2(c: Config, **more: Value) -> Fields:
    d_model = c.size("n_embd")
    ffn = {"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")}
    return _gpt(c, ffn=ffn, **_crossed(c, d_model, c.size("n_layer")), **more)


def _crossed(c: Config, d_model: int, blocks: int) -> Fields:
    """The stack, with cross-attention to what another model read where the file asks for it."""
    if not c.flag("add_cross_attention"):
        return {"decoder": blocks}
    return {"cross": {"memory": d_model}, "decoder": stack(["attention cross ffn"] * blocks)}


def _alibi_decoder(c: Config, *, act: str, **more: Value) -> Fields:
    """BLOOM and MPT: an FFN four times as wide as the model, which older files call n_embed."""
    d_model, number = c.given("n_embed") or c.size("hidden_size"), c.size("num_attention_heads")
    c.skip("hidden_size")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": divided(c, d_model, number),
        "ffn": {"width": 4 * d_model, "act": act},
        "decoder": c.size("num_hidden_layers"),
        "head": heads.of_decoder(c),
        **more,
    }


def gpt2(c: Config) -> Fields:
    """GPT-2 and GPT-SW3: learned positions, a non-gated FFN, biases everywhere."""
    if c.task != "double":
        return _gpt2(c)
    kind = heads.language(c)  # beside it, a multiple-choice head with one score per sequence
    classes = c.size("n_embd")
    if c.given("summary_proj_to_labels"):
        classes = 1
    pool = {"first": "class", "mean": "mean"}.get(c.text("summary_type"), "last")
    second = heads.classifier(classes, pool=pool)
    return _gpt2(c, head={"kind": kind, **when(c.given("summary_use_proj"), beside=second)})


def gpt_bigcode(c: Config) -> Fields:
    """StarCoder (GPT BigCode): GPT-2 with optional multi-query attention (one KV head)."""
    if c.flag("multi_query") and c.flag("add_cross_attention"):
        raise c.refused("add_cross_attention", "the class does not support cross-attention with multi_query")
    return _gpt2(c, kv_heads=c.choose("multi_query", 1, c.size("n_head")))


def gptj(c: Config) -> Fields:
    """GPT-J and CodeGen: attention and FFN in parallel after one norm, no biases in attention, a bias on
    the LM head."""
    d_model, number = c.size("n_embd"), c.size("n_head")
    return _gpt(
        c,
        attention={"bias": False},
        ffn={"width": c.size_or("n_inner", 4 * d_model), "act": activation(c, "activation_function")},
        position=rope_of(c, c.get("rotary_dim") or d_model, d_model // number, c.size("n_positions")),
        parallel="shared",
        head=heads.of_decoder(c, bias=True, answers=heads.labels(c)),
    )


def ctrl(c: Config) -> Fields:
    """CTRL: sinusoidal positions, a non-gated FFN, biases everywhere, also on the LM head."""
    position = {"kind": "sinusoidal", "length": c.size("n_positions")}
    head = heads.of_decoder(c, bias=c.task == "causal")
    return _gpt(c, ffn={"width": c.size("dff"), "act": "relu"}, position=position, head=head)


def _openai_gpt(c: Config) -> Fields:
    """OpenAI GPT (GPT-1): post-norm, a non-gated FFN, biases everywhere."""
    said = c.text("afn")
    if said not in _ACTIVATIONS:
        raise c.wrong("afn", f"one of {', '.join(_ACTIVATIONS)}")
    ffn = {"width": 4 * c.size("n_embd"), "act": activation(c, "afn", _ACTIVATIONS[said])}
    return _gpt(c, ffn=ffn, norm={"place": "post"})


def imagegpt(c: Config) -> Fields:
    """ImageGPT: GPT-2 over pixels, with RMS norms."""
    if c.task == "pixels" and c.flag("tie_word_embeddings"):
        raise c.refused("tie_word_embeddings", "the head has one row less than the table")
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": heads.none,
        "image": lambda: {"kind": "classifier", "classes": heads.labels(c), "bias": False, "pool": "mean"},
        "pixels": lambda: {"kind": "lm", "vocab": c.size("vocab_size") - 1},
    }
    return _gpt2(c, norm="rms", head=heads.for_task(c, table))


def bloom(c: Config) -> Fields:
    """BLOOM: ALiBi, a norm after the embedding, an FFN of four times hidden_size."""
    return _alibi_decoder(c, act="gelu_tanh", position="alibi", embedding={"norm": True})


def mpt(c: Config) -> Fields:
    """MPT: ALiBi, no biases, an FFN of four times hidden_size."""
    position = {"kind": "alibi", "length": c.size("max_seq_len")}
    return _alibi_decoder(c, act="gelu", norm={"bias": False}, bias=False, position=position)


def biogpt(c: Config, *, width: str, act: str, learned: bool) -> Fields:
    """BioGPT and XGLM: pre-norm decoders with biases everywhere; positions are learned behind two rows, or sinusoidal.

    `width` and `act` are the keys of the FFN."""
    d_model, number, length = c.size("hidden_size"), c.size("num_attention_heads"), c.size("max_position_embeddings")
    position: Fields = {"kind": "sinusoidal"}  # of any length, though the file must have one
    if learned:
        position = {"kind": "learned", "length": length, "offset": 2}
    return decoder(
        c,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size(width), "act": activation(c, act)},
        norm="layer",
        bias=True,
        position=position,
        **_crossed(c, d_model, c.size("num_hidden_layers")),
    )


TYPES = {
    "gpt-sw3": gpt2,
    "codegen": gptj,
    "openai-gpt": _openai_gpt,
    "biogpt": partial(biogpt, width="intermediate_size", act="hidden_act", learned=True),
    "xglm": partial(biogpt, width="ffn_dim", act="activation_function", learned=False),
}
