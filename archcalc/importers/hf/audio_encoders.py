"""Whisper's encoder inside other models: of Qwen2-Audio, Audio Flamingo, Voxtral, MOSS, and GLM-ASR, which rotates."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, biased
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.words import activation, rope

TYPES = (
    *("qwen2_audio_encoder", "audioflamingo3_encoder", "voxtral_encoder", "moss_transcribe_diarize_audio"),
    "glmasr_encoder",
)
USUAL = "base"
INERT = "scale_embedding vocab_size"


def translate(c: Config, task: str) -> Fields:
    if task != "base":
        raise heads.refuse(c, task)
    if c.type in ("qwen2_audio_encoder", "audioflamingo3_encoder"):
        c.notes.append("behind the last block positions are averaged two by two, which is not shown")
    d_model, number = c.size("hidden_size"), c.size("num_attention_heads")
    turned = c.type == "glmasr_encoder"
    kv_heads = c.size_or("num_key_value_heads", number) if turned else number
    width = c.size_or("head_dim", d_model // number) if turned else d_model // number
    length = c.size("max_position_embeddings" if turned else "max_source_positions")
    return {
        "d_model": d_model,
        "heads": number,
        "kv_heads": kv_heads,
        "head_dim": width,
        "attention": {"bias": biased(qvo=True)},
        "ffn": {
            "width": c.size("intermediate_size"),
            "act": activation(c, "hidden_act" if turned else "activation_function"),
        },
        "position": rope(c, width, fraction=0.5)
        if turned
        else {"kind": "sinusoidal", "length": length, "stored": True},
        "embedding": {"kind": "audio", "mels": c.size("num_mel_bins")},
        "encoder": c.size("num_hidden_layers"),
        "head": "none",
    }
