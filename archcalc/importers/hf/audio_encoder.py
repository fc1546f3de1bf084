"""Audio encoders like Whisper's: two convolutions over the audio, then keys without bias."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    activation,
    audio,
    biased,
    heads,
    inert,
    rope,
    when,
    whole,
)

USUAL = "base"
INERT = {
    "voxtral_encoder": {inert.NOT_HERE: "vocab_size"},
    "qwen3_asr_encoder": {inert.NOT_HERE: "output_dim"},
}
CONVOLUTIONS = 3  # of Qwen3-ASR, each of which halves mels and frames


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


def qwen3_asr_encoder(c: Config) -> Fields:
    """Audio encoder of Qwen3-ASR: pieces of a second, each convolved by itself, and attention among several of them.

    A piece is a map of mels and frames; behind its convolutions all mels of a place are projected together."""
    heads.only(c, "base")
    frames, mels, wide = 2 * c.size("n_window"), c.size("num_mel_bins"), c.size("downsample_hidden_size")
    together, places = c.size("n_window_infer") // frames, frames
    if not together:
        raise c.refused("n_window_infer", f"a window of attention is shorter than a piece of {frames} frames")
    for _ in range(CONVOLUTIONS):
        places = (places + 1) // 2
    if places > c.size("max_position_embeddings"):
        raise c.refused("max_position_embeddings", f"a piece of {frames} frames has {places} places")
    act = activation(c, "activation_function")
    conv = {"conv": wide, "kernel": [3, 3, 1], "stride": [2, 2, 1], "padding": [1, 1, 0], "act": "gelu"}
    hearing = {
        "d_model": c.size("d_model"),
        "heads": c.size("encoder_attention_heads"),
        "attention": {"windows": [places, together]},
        "ffn": {"width": c.size("encoder_ffn_dim"), "act": act},
        "position": {"kind": "none"},
        "embedding": {"kind": "patches", "patch": 1, "tokens": 0, "bias": False},
        "encoder": c.size("encoder_layers"),
        "head": "none",
    }
    parts = {"convolved": {"reads": whole.AUDIO, "layers": [conv] * CONVOLUTIONS}, "hearing": hearing}
    return {"family": "parts", "inputs": {whole.AUDIO: _pieces(c, mels, frames)}, "parts": parts, "loss": "none"}


def _pieces(c: Config, mels: int, frames: int) -> Fields:
    """Half a minute of sound."""
    rate = audio.FRAMES // frames
    if rate * frames != audio.FRAMES:
        c.notes.append(f"pieces of {frames} frames do not fill a second: the sound's length is not chosen in seconds")
    number = max(whole.SECONDS * audio.FRAMES // frames, 1)
    return {"shape": [1, mels, frames, number], **when(rate * frames == audio.FRAMES, rate=rate)}


TYPES = {"moss_transcribe_diarize_audio": voxtral_encoder, "audioflamingo3_encoder": qwen2_audio_encoder}
