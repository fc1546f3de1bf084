"""Code shared by the translators of Hugging Face configs; each family has its own file one folder up.

What most families need is found here by its name; the rest is in modules: `heads`, `inert`, `moe`, `bert_like` …
"""

from archcalc.importers.hf._helpers.blocks import (
    attention,
    biased,
    decoder,
    divided,
    even_heads,
    ffn,
    finished,
    head_dim,
    kv_heads,
    top,
    where_used,
    window,
)
from archcalc.importers.hf._helpers.reading import Config, Fields, Value, when
from archcalc.importers.hf._helpers.weights import Weights
from archcalc.importers.hf._helpers.words import activation, local_rope, local_theta, rope, rope_of, sides

__all__ = [
    "Config", "Fields", "Value", "Weights", "activation", "attention", "biased", "decoder", "divided",
    "even_heads", "ffn", "finished", "head_dim", "kv_heads", "local_rope", "local_theta", "rope", "rope_of",
    "sides", "top", "when", "where_used", "window",
]  # fmt: skip
