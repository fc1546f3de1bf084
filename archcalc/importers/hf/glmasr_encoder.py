"""Audio encoder of GLM-ASR: Whisper's encoder with RoPE and optional grouped-query attention."""

from archcalc.importers.hf._helpers import Config, Fields, heads, rope, whisper_like

USUAL = "base"


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    number = c.size("num_attention_heads")
    width = c.size_or("head_dim", c.size("hidden_size") // number)
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return {
        **whisper_like.sound_encoder(c, act="hidden_act", position=rope(c, width)),
        "kv_heads": c.size_or("num_key_value_heads", number),
        "head_dim": width,
    }
