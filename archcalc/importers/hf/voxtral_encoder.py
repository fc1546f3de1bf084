"""Audio encoder of Voxtral and MOSS: the same as Whisper's encoder."""

from archcalc.importers.hf._helpers import Config, Fields, heads, inert, whisper_like

TYPES = ("voxtral_encoder", "moss_transcribe_diarize_audio")
USUAL = "base"
INERT = {inert.NOT_HERE: "vocab_size"}


def translate(c: Config) -> Fields:
    heads.only(c, "base")
    return whisper_like.sound_encoder(c)
