"""Transformers: encoder-decoders, encoders, decoders."""

from archcalc.archs.transformer.build import build
from archcalc.archs.transformer.defaults import defaults
from archcalc.archs.transformer.fed import fed
from archcalc.archs.transformer.resolve import resolve
from archcalc.archs.transformer.spec import Spec
from archcalc.archs.transformer.stages import between, layers

__all__ = ["Spec", "between", "build", "defaults", "fed", "layers", "resolve"]
