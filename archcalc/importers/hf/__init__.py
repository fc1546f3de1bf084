"""Translates a Hugging Face config.json to a spec: one small translator for each family of model types.

A translator is a file here with

    translate  from a Config to the fields of a spec

and, where they are not what they mostly are,

    TYPES      the model types it reads (otherwise one, called like the file); where they differ in a few facts, a
               mapping to these, which `translate` is told as its arguments
    USUAL      the task a config stands for that names no class: masked, seq2seq, image (otherwise causal)
    INERT      declared keys that change no parameter, shape or cost of these types, by the reason why, and so need
               not be read; those that are inert for every type are in `presets/hf/inert.json` (otherwise none)

and, where `verify` must know how transformers' class differs from it,

    WEIGHTS       how the class keeps its weights (`_helpers/weights.py`)
    unused_flops  FLOPs of one of its modules whose results nothing reads

A family imports no other one: what several share is in `_helpers`, with parameters for what differs.
Files are found, not listed: a new family is a new file, and its classes' defaults in `presets/hf`, which
`tools/hf_defaults.py` writes. Every declared key that a translator neither reads nor calls inert is refused
unless it stands at its default, so that nothing is counted by halves.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from archcalc.importers.hf._helpers.reading import Config, Fields
    from archcalc.importers.hf._helpers.weights import Weights

_PLAIN = re.compile(r"[\w.-]{1,100}")  # a file of the folder


@dataclass(frozen=True, eq=False)
class Family:
    """What one translator's file says, with the usual values for what it leaves out."""

    name: str
    types: Mapping[str, Fields]
    """Those that it reads, and what it is told of each."""
    usual: str
    inert: Mapping[str, str]
    weights: Weights | None
    unused_flops: Callable[[Any, Any, int], int]
    _translate: Callable[..., Fields]

    def translate(self, config: Config) -> Fields:
        return self._translate(config, **self.types[config.type])


@cache
def translators() -> dict[str, Family]:
    """All supported model types, and the family that translates each."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)
    return {model_type: family for family in map(_family, names) for model_type in family.types}


def translator(model_type: str) -> Family | None:
    """The family that the type's defaults name, so that others need not load; None for an unsupported type."""
    file = data_root() / "hf" / f"{model_type}.json"
    if not _PLAIN.fullmatch(model_type) or not file.is_file():
        return None
    name = json.loads(file.read_text(encoding="utf-8")).get("family")
    return name and _family(name)


@cache
def _family(name: str) -> Family:
    said = vars(importlib.import_module(f"{__name__}.{name}"))
    types = said.get("TYPES", (name,))
    types = types if isinstance(types, dict) else {model_type: {} for model_type in types}
    usual, inert, weights = said.get("USUAL", "causal"), said.get("INERT", {}), said.get("WEIGHTS")
    return Family(name, types, usual, inert, weights, said.get("unused_flops", lambda *_: 0), said["translate"])
