"""Llama-like decoders whose class lies beside their weights: what they add to Llama, and their names of its sizes."""

from archcalc.importers.hf._helpers import Config, Fields, Value, biased, decoder, ffn, head_dim, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import stack
from archcalc.importers.hf._helpers.moe import experts

INERT = {
    "chatglm": {inert.ORDER: "apply_residual_connection_post_layernorm"},
    "minicpm": {inert.NOT_HERE: "num_experts_per_tok mlp_bias"},
    "qwen": {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.NOT_HERE: "attention_bias mlp_bias"},
}


def internlm2(c: Config) -> Fields:
    """InternLM 1 and 2: one switch for the biases of attention."""
    return decoder(c, attention={"bias": c.flag("attention_bias")}, ffn=ffn(c, bias=c.flag("mlp_bias")))


def internlm3(c: Config) -> Fields:
    """InternLM 3: a switch for the biases of q, k and v, and one for all others."""
    bias = c.flag("bias")
    return decoder(c, attention={"bias": biased(qkv=c.flag("qkv_bias"), o=bias)}, ffn=ffn(c, bias=bias))


def baichuan(c: Config) -> Fields:
    """Baichuan 1 and 2: RoPE in the models of 7 B, which name a number of positions, and ALiBi in those of 13 B."""
    turned: Fields = when("max_position_embeddings" not in c.spelled, position="alibi")
    c.skip("max_position_embeddings", "rope_theta", "rope_scaling", "rope_parameters")
    return decoder(c, attention={"bias": c.flag("attention_bias")}, ffn=ffn(c, bias=c.flag("mlp_bias")), **turned)


def minicpm(c: Config) -> Fields:
    """MiniCPM 1, 2 and 4: embeddings and residuals are scaled; with experts in every block, where the file has some."""
    attention = {"bias": c.flag("attention_bias")}
    if not c.count("num_experts"):
        return decoder(c, attention=attention)
    moe = experts(c, "num_experts", "intermediate_size")
    return decoder(c, attention=attention, ffn=None, moe=moe, decoder=stack(_sparse(c)))


def _sparse(c: Config) -> list[str]:
    return ["attention moe"] * c.size("num_hidden_layers")


def qwen(c: Config) -> Fields:
    """Qwen 1: `intermediate_size` is that of gate and up together; q, k and v always have biases."""
    bias = not c.flag("no_bias")
    wide = {**ffn(c, bias=bias), "width": c.size("intermediate_size") // 2}
    turned = rope(c, head_dim(c), fraction=c.given("rotary_pct"), theta=c.get("rotary_emb_base"))
    return decoder(
        c, kv_heads=None, attention={"bias": biased(qkv=True, o=bias)}, ffn=wide, position=turned, head=_head(c)
    )


def _head(c: Config) -> Value:
    """The class never ties it."""
    c.skip("tie_word_embeddings")
    return {"causal": "lm", "base": "none"}[c.task]


def chatglm(c: Config) -> Fields:
    """ChatGLM 2 and 3, GLM-4 of 2024: RoPE on half of each head; the first ChatGLM has other fields."""
    if c.get("inner_hidden_size") is not None:
        raise c.refused("inner_hidden_size", "it is a field of the first ChatGLM, whose blocks are others")
    if c.get("pre_seq_len") is not None:
        raise c.refused("pre_seq_len", "P-tuning's prefix is not counted")
    bias = c.flag("add_bias_linear")
    number = c.size("num_attention_heads")
    shared = c.choose("multi_query_attention", c.size("num_key_value_heads"), number)
    norm: Fields = {"kind": c.choose("rmsnorm", "rms", "layer"), **when(not c.flag("post_layer_norm"), final=False)}
    return decoder(
        c,
        kv_heads=shared,
        attention={"bias": biased(qkv=bias or c.flag("add_qkv_bias"), o=bias)},
        ffn=ffn(c, bias=bias),
        norm=norm,
        position=rope(c, head_dim(c), fraction=0.5),
        head=c.choose("tie_word_embeddings", "tied", "lm"),
    )


TYPES = {"internlm": internlm2}
