"""Audio encoders like Whisper's: two convolutions over the audio, then keys without bias."""

from archcalc.importers.hf._helpers import Config, Fields, activation, audio, biased, heads, inert, rope

USUAL = "base"
INERT = {"voxtral_encoder": {inert.NOT_HERE: "vocab_size"}}


def _sound_encoder(c: Config, act: str = "activation_function", position: Fields | None = None) -> Fields:
    """An audio encoder inside another model; `act` is the key of its activation."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    if position is None:
        position = {"kind": "sinusoidal", "length": c.size("max_source_positions"), "stored": True}
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "attention": {"bias": biased(qvo=True)},
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c, act)},
        "position": position,
        "embedding": audio.spectrogram(c),
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def voxtral_encoder(c: Config) -> Fields:
    """Audio encoder of Voxtral and MOSS: the same as Whisper's encoder."""
    heads.only(c, "base", "features")
    return _sound_encoder(c)


def qwen2_audio_encoder(c: Config) -> Fields:
    """Audio encoder of Qwen2-Audio and Audio Flamingo 3: Whisper's encoder, then average pooling with stride two."""
    heads.only(c, "base", "features")
    if c.task == "base":
        c.notes.append("average pooling with stride two after the last block is not counted")
    return _sound_encoder(c)


def glmasr_encoder(c: Config) -> Fields:
    """Audio encoder of GLM-ASR: Whisper's encoder with RoPE and optional grouped-query attention."""
    heads.only(c, "base", "features")
    number = c.size("num_attention_heads")
    width = c.size_or("head_dim", c.size("hidden_size") // number)
    c.size("max_position_embeddings")  # nothing depends on it, but it must be one
    return {
        **_sound_encoder(c, act="hidden_act", position=rope(c, width)),
        "kv_heads": c.size_or("num_key_value_heads", number),
        "head_dim": width,
    }


TYPES = {"moss_transcribe_diarize_audio": voxtral_encoder, "audioflamingo3_encoder": qwen2_audio_encoder}
