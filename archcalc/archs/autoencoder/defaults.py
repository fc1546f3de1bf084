"""What an autoencoder takes for fields that its spec leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from archcalc.archs.autoencoder.resolve import LayeredAutoencoder
from archcalc.spec.defaults import Default

if TYPE_CHECKING:
    from archcalc.archs.autoencoder.resolve import Autoencoder
    from archcalc.archs.autoencoder.spec import Spec


def defaults(spec: Spec, model: Autoencoder | LayeredAutoencoder) -> Iterator[Default]:
    yield Default(("bias",), model.bias, "biases" if model.bias else "no biases")
    if isinstance(model, LayeredAutoencoder):
        # without words: every report names the activations and the loss
        if len(model.decoder) > 1:
            yield Default(("decoder",), list(model.decoder[:-1]), "the encoder's widths mirrored")
        for field in ("act", "output_act", "loss"):
            yield Default((field,), getattr(model, field))
        if model.kind == "deep":
            yield Default(("code_act",), model.code_act)
            yield Default(("tied",), model.tied)
    yield Default(("precision",), "fp32")
