"""Models whose GGUF files store q, k and v as one fused matrix, which llama.cpp's quantisation mixes single out."""

from __future__ import annotations

from functools import cache

from archcalc.importers.hf._helpers.reading import Config
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read


def fused_qkv(config: Config) -> bool:
    """By the classes of the model's type, so that a config without `architectures` counts the same."""
    return not _classes().isdisjoint(config.classes)


@cache
def _classes() -> frozenset[str]:
    return frozenset(read((data_root() / "gguf" / "fused_qkv.yaml").read_bytes(), "fused_qkv.yaml").data["classes"])
