"""What translators declare about a transformers class: how it stores weights, and FLOPs whose results are unused."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf import Family, translator
from archcalc.importers.hf._helpers.weights import Weights


def families(module: Any) -> list[Family]:
    """The translators of a class and of the models inside it, such as an encoder before a decoder."""
    configs = (getattr(inner, "config", None) for inner in module.modules())
    types = {str(getattr(config, "model_type", "")) for config in configs}
    return [family for model_type in sorted(types) if (family := translator(model_type))]


def weights_of(module: Any) -> list[Weights]:
    """How its weights are kept, where families say something about that."""
    return [family.weights for family in families(module) if family.weights]
