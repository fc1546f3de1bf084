"""Audio encoder of Qwen2-Audio and Audio Flamingo 3: Whisper's encoder, then average pooling with stride two."""

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.whisper_like import sound_encoder

TYPES = ("qwen2_audio_encoder", "audioflamingo3_encoder")
USUAL = "base"


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    c.notes.append("average pooling with stride two after the last block is not counted")
    return sound_encoder(c)
