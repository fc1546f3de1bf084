"""Whisper's encoder: two convolutions over the audio, sinusoidal positions stored as a table, keys without bias."""

from __future__ import annotations

from archcalc.importers.hf._helpers import Config, Fields, activation, biased


def sound_encoder(c: Config, act: str = "activation_function", position: Fields | None = None) -> Fields:
    """An audio encoder inside another model; `act` is the key of its activation."""
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    return {
        "d_model": d_model,
        "heads": number,
        "head_dim": d_model // number,
        "attention": {"bias": biased(qvo=True)},
        "ffn": {"width": c.size("intermediate_size"), "act": activation(c, act)},
        "position": position or stored_sinusoids(c),
        "embedding": {"kind": "audio", "mels": c.size("num_mel_bins")},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }


def stored_sinusoids(c: Config) -> Fields:
    return {"kind": "sinusoidal", "length": c.size("max_source_positions"), "stored": True}
