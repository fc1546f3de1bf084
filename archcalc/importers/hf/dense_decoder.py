"""Dense decoders that differ from Llama in more than a fact or two."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    Weights,
    activation,
    biased,
    decoder,
    even_heads,
    ffn,
    head_dim,
    heads,
    inert,
    rope,
    when,
    window,
)
from archcalc.importers.hf._helpers.layer_types import stack

WEIGHTS = {
    "stablelm": Weights(numbered=r"\.norms\.\d+\.weight$"),  # norms of queries and keys, one for each head
}
INERT = {
    "glm4": {inert.TOKENS: "vision_vocab_size"},
    "gpt_neox": {inert.NOT_HERE: "is_decoder"},
    "gpt_neox_japanese": {inert.NOT_HERE: "is_decoder"},
}


def bitnet(c: Config) -> Fields:
    """BitNet: Llama with an extra norm before each output projection; its ternary weight format is not
    imported here."""
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        raise c.refused(
            "head_dim", "the class normalises hidden_size outputs of all heads together, so such a model cannot run"
        )
    attention = {"bias": c.flag("attention_bias"), "out_norm": True}
    return decoder(c, attention=attention, ffn=ffn(c, inner_norm=True))


def glm4(c: Config) -> Fields:
    """GLM-4, and the text models of GLM-OCR and GLM-Image: biases on q, k and v, norms before and after
    each sublayer."""
    attention = {"bias": biased(qkv=c.flag("attention_bias"))}
    return decoder(c, attention=attention, norm={"kind": "rms", "place": "sandwich"})


def glm4v_text(c: Config) -> Fields:
    """Text model of GLM-4V: biases on q, k and v, norms before and after each sublayer."""
    return decoder(
        c,
        head_dim=even_heads(c),
        attention={"bias": biased(qkv=True)},
        norm={"kind": "rms", "place": "sandwich"},
        position=rope(c, even_heads(c)),
    )


def gpt_neox(c: Config) -> Fields:
    """GPT-NeoX and Pythia: attention and FFN in parallel, each with its own input norm."""
    width, number = c.size("hidden_size"), c.size("num_attention_heads")
    return decoder(
        c,
        kv_heads=number,
        head_dim=width // number,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, width // number, fraction=c.given("rotary_pct") or None),
        parallel=c.choose("use_parallel_residual", "separate", None),
    )


def gpt_neox_japanese(c: Config) -> Fields:
    """GPT-NeoX Japanese: sequential attention and FFN; the only bias is on the attention output of the last block."""
    number, each, blocks = c.size("num_attention_heads"), even_heads(c), c.size("num_hidden_layers")
    width = int(c.size("hidden_size") * c.size("intermediate_multiple_size"))
    return decoder(
        c,
        kv_heads=number,
        head_dim=each,
        attention={"bias": False},
        ffn={"width": width, "act": activation(c), "gated": False},
        norm="layer",
        position=rope(c, each),
        variants={"last": {"like": "attention", "bias": ["o"]}},
        decoder=stack(["attention ffn"] * (blocks - 1) + ["last ffn"]),
    )


def opt(c: Config) -> Fields:
    """OPT: learned positions offset by two rows, pre- or post-norm, an embedding that may be narrower than
    hidden_size."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    width = c.size_or("word_embed_proj_dim", d_model)
    pre, affine = c.flag("do_layer_norm_before"), c.flag("layer_norm_elementwise_affine")
    last = when(c.flag("_remove_final_layer_norm") and pre, final=False)
    norm = {"place": c.choose("do_layer_norm_before", "pre", "post"), **when(not affine, affine=False), **last}
    return decoder(
        c,
        kv_heads=number,
        head_dim=d_model // number,
        ffn={"width": c.size("ffn_dim"), "act": activation(c, "activation_function"), "gated": False},
        norm=norm,
        bias=c.flag("enable_bias"),
        position={"kind": "learned", "length": c.size("max_position_embeddings"), "offset": 2},
        embedding=when(width != d_model, width=width, project="tokens"),
    )


def persimmon(c: Config) -> Fields:
    """Persimmon: a non-gated FFN, LayerNorm also on queries and keys, biases everywhere except on the LM head."""
    return decoder(
        c,
        kv_heads=c.size("num_attention_heads"),
        head_dim=even_heads(c),
        attention=when(c.flag("qk_layernorm"), qk_norm="head"),
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, even_heads(c)),
    )


def phi(c: Config) -> Fields:
    """Phi 1 and 2: attention and FFN in parallel after one LayerNorm, biases everywhere, also on the LM head."""
    return decoder(
        c,
        attention=_qk_norm(c),
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        parallel="shared",
        head=heads.of_decoder(c, bias=True),
    )


def _qk_norm(c: Config) -> Fields:
    """The norms have the default head size; with another head_dim the model can be built but not run."""
    if not c.flag("qk_layernorm"):
        return {}
    if head_dim(c) == even_heads(c):
        return {"qk_norm": "head"}
    c.notes.append(
        f"QK norms of size {even_heads(c)} on heads of size {head_dim(c)}: this model can be built but not run"
    )
    return {"qk_norm": {"over": "head", "width": even_heads(c)}}


def stablelm(c: Config) -> Fields:
    """StableLM: LayerNorm with bias, optional biases on q, k and v, optional parallel attention and FFN."""
    heads, width = c.size("num_attention_heads"), c.size("hidden_size")
    normed = when(c.flag("qk_layernorm"), qk_norm={"over": "heads", "bias": False})
    return decoder(
        c,
        head_dim=width // heads,
        attention={"bias": biased(qkv=c.flag("use_qkv_bias")), **normed},
        norm="layer",
        position=rope(c, width // heads),
        parallel=c.choose("use_parallel_residual", "shared", None),
    )


def starcoder2(c: Config) -> Fields:
    """StarCoder 2: a non-gated FFN, LayerNorm, biases everywhere or nowhere."""
    plain = ffn(c, gated=False)
    return decoder(c, ffn=plain, norm="layer", bias=c.flag("use_bias"), attention=window(c))


TYPES = {"glm_ocr_text": glm4, "glm_image_text": glm4}
