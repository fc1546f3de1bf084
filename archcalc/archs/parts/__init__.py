"""Models that are put together of named parts: several inputs, towers, a decoder that reads what they give.

inputs: {image: 3 × 336 × 336, text: tokens}
parts:
  vision: {reads: image, d_model: 1024, heads: 16, embedding: {kind: patches, patch: 14}, encoder: 24}
  projector: {layers: [{linear: 4096, act: gelu}, {linear: 4096}]}
  language: {reads: [projector, text], vocab: 32000, d_model: 4096, heads: 32, ffn: 11008, decoder: 32}

A part is a spec of any other family; what it needs to be one is in the file of its family here (`of_transformer.py`).
"""

from archcalc.archs.parts.alone import alone
from archcalc.archs.parts.build import build
from archcalc.archs.parts.fed import another_image, fed
from archcalc.archs.parts.model import Parts
from archcalc.archs.parts.profile import apart, profiled
from archcalc.archs.parts.resolve import resolve
from archcalc.archs.parts.spec import Spec

__all__ = ["Parts", "Spec", "alone", "another_image", "apart", "build", "fed", "profiled", "resolve"]
