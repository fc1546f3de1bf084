"""StableLM: LayerNorm with bias, optional biases on q, k and v, optional parallel attention and FFN."""

from archcalc.importers.hf._helpers import Config, Fields, Weights, biased, decoder, rope, when

WEIGHTS = Weights(numbered=r"\.norms\.\d+\.weight$")  # norms of queries and keys, one for each head


def translate(c: Config) -> Fields:
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
