"""What Whisper and the towers made of it read."""

from __future__ import annotations

from archcalc.importers.hf._helpers.reading import Config, Fields

FRAMES = 100  # in a second, of transformers' WhisperFeatureExtractor: 16,000 samples, 160 for each frame


def spectrogram(c: Config) -> Fields:
    return {"kind": "audio", "mels": c.size("num_mel_bins"), "rate": FRAMES}
