"""StableLM: LayerNorm with bias, optional biases on q, k and v, optional parallel attention and FFN."""

from archcalc.importers.hf._helpers.blocks import biased, decoder
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.weights import Weights
from archcalc.importers.hf._helpers.words import rope

WEIGHTS = Weights(numbered=r"\.norms\.\d+\.weight$")  # norms of queries and keys, one for each head


def translate(c: Config, task: str) -> Fields:
    heads, width = c.size("num_attention_heads"), c.size("hidden_size")
    normed = when(c.flag("qk_layernorm"), qk_norm={"over": "heads", "bias": False})
    return decoder(
        c,
        task,
        head_dim=width // heads,
        attention={"bias": biased(qkv=c.flag("use_qkv_bias")), **normed},
        norm="layer",
        position=rope(c, width // heads),
        parallel=c.choose("use_parallel_residual", "shared", None),
    )
