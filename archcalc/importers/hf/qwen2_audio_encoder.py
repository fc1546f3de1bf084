"""Audio encoder of Qwen2-Audio and Audio Flamingo 3: Whisper's encoder, then average pooling with stride two."""

from archcalc.importers.hf._helpers import Config, Fields, heads, whisper_like

TYPES = ("qwen2_audio_encoder", "audioflamingo3_encoder")
USUAL = "base"


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    c.notes.append("average pooling with stride two after the last block is not counted")
    return whisper_like.sound_encoder(c)
