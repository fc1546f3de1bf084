"""Llama, and dense decoders that differ from it in a few facts: their biases and norms, a gate that is not there."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, Value, biased, decoder, ffn, head_dim, inert, when, window

INERT = {
    "llama": {inert.NO_SUCH_SIZE: "original_max_position_embeddings", inert.RUNNING: "use_bidirectional_attention"}
}


def _dense(c: Config, *, out_bias: bool | None = None, gated: bool = True, qk_norm: str = "", **more: Value) -> Fields:
    """`out_bias` is that of the output projection, if it differs; `more` are the fields that a type adds."""
    bias = c.flag("attention_bias") or c.flag("use_bias")
    if out_bias is None:
        out_bias = bias
    wide = ffn(c, bias=c.flag("mlp_bias") or c.flag("use_bias"), gated=gated)
    attention = {"bias": biased(qkv=bias, o=out_bias), **when(qk_norm, qk_norm=qk_norm), **window(c)}
    return decoder(c, ffn=wide, attention=attention, **more)


def llama(c: Config) -> Fields:
    """Llama, Mistral, Granite, Gemma, Phi 3, ERNIE 4.5 and others that differ only in biases and sliding windows."""
    return _dense(c)


def helium(c: Config) -> Fields:
    """Helium: Llama whose attention output projection has no bias."""
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        why = "the class expects all heads together to have hidden_size outputs, so such a model cannot run"
        raise c.refused("head_dim", why)
    return _dense(c, out_bias=False)


def hyperclovax(c: Config) -> Fields:
    """HyperCLOVA X: Llama with optional extra norms after attention and FFN."""
    norm: Value = c.choose("use_post_norm", {"kind": "rms", "place": "sandwich"}, "rms")
    return _dense(c, norm=norm)


def seed_oss(c: Config) -> Fields:
    """Seed-OSS: Llama with a separate config switch for the bias of the attention output projection."""
    return _dense(c, out_bias=c.flag("attention_out_bias"))


_LIKE_LLAMA = (
    *("mistral", "granite", "gemma", "phi3", "ernie4_5", "ministral3"),
    *("paddleocr_vl_text", "granite4_vision_text", "emu3_text_model", "granite_docling_text", "iquestcoder"),
)
_WITHOUT_SCALES = {"kind": "rms", "affine": False}
TYPES = {
    **dict.fromkeys(_LIKE_LLAMA, llama),
    "arcee": partial(_dense, gated=False),
    "cosmos3_edge_text": partial(_dense, gated=False),
    "glm": partial(_dense, out_bias=False),
    "hunyuan_v1_dense": partial(_dense, qk_norm="head"),
    "hunyuan_vl_text": partial(_dense, qk_norm="head"),
    "jais2": partial(_dense, gated=False, norm="layer"),
    "nanochat": partial(_dense, gated=False, qk_norm="head", norm=_WITHOUT_SCALES, embedding={"norm": True}),
    "nemotron": partial(_dense, gated=False, norm="layer"),
    "olmo": partial(_dense, norm={"kind": "layer", "affine": False}),
    "olmo2": partial(_dense, qk_norm="all", norm={"kind": "rms", "place": "out"}),
    "qwen3_vl_text": partial(_dense, qk_norm="head"),
}
