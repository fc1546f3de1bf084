"""Audio encoder of Voxtral and MOSS: the same as Whisper's encoder."""

from archcalc.importers.hf._helpers import heads, inert
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.whisper_like import sound_encoder

TYPES = ("voxtral_encoder", "moss_transcribe_diarize_audio")
USUAL = "base"
INERT = {inert.NOT_HERE: "vocab_size"}


def translate(c: Config, task: str) -> Fields:
    heads.only(c, task, "base")
    return sound_encoder(c)
