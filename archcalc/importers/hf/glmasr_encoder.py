"""Audio encoder of GLM-ASR: Whisper's encoder with RoPE and optional grouped-query attention."""

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.whisper_like import sound_encoder
from archcalc.importers.hf._helpers.words import rope

USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    number = c.size("num_attention_heads")
    width = c.size_or("head_dim", c.size("hidden_size") // number)
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return {
        **sound_encoder(c, act="hidden_act", position=rope(c, width)),
        "kv_heads": c.size_or("num_key_value_heads", number),
        "head_dim": width,
    }
