"""Audio encoder of Voxtral and MOSS: the same as Whisper's encoder."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.whisper_like import sound_encoder

TYPES = ("voxtral_encoder", "moss_transcribe_diarize_audio")
USUAL = "base"
INERT = {
    inert.SCALING: "scale_embedding",
    inert.NOT_HERE: "vocab_size",
}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    return sound_encoder(c)
