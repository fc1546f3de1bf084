"""The training code that people run: which tensors a library's implementation of a layer makes and keeps.

    used = code("torchtitan@2024-12", model_type="llama")
    used.habits.logits_held, dict(used.layers)["rms_norm"]

A library is a file in presets/code: its habits with their source, those of single families, and those of earlier
versions. `plain` is archcalc's own reference, which `archcalc verify` compares with PyTorch.
"""

from __future__ import annotations

from archcalc.run.code.habits import Habits
from archcalc.run.code.library import OWN, PLAIN, Code, code

__all__ = ["OWN", "PLAIN", "Code", "Habits", "code"]
