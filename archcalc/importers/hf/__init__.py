"""Translates a Hugging Face config.json to a spec: one small function for each model type.

A file here has the types of one kind. It has either

    translate  from a Config to the fields of a spec, of the type that is called like the file

or such a function for each type, called like that; and, where they are not what they mostly are,

    TYPES      further types, each with the function that reads it; or all those that `translate` reads
    USUAL      the task a config stands for that names no class: masked, seq2seq, image (otherwise causal)
    INERT      declared keys that change no parameter, shape or cost of these types, by the reason why, and so need
               not be read; those that are inert for every type are in `presets/hf/inert.json` (otherwise none)

and, where `verify` must know how transformers' class differs from it,

    WEIGHTS       how the class keeps its weights (`_helpers/weights.py`)
    unused_flops  FLOPs of one of its modules whose results nothing reads

USUAL, INERT and WEIGHTS may be mappings by the name of a function, where those of one file differ in them.
A file imports no other one: what several share is in `_helpers`, with parameters for what differs.
Files are found, not listed: a new type is a new file or function, and its classes' defaults in `presets/hf`, which
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
from inspect import isfunction
from typing import TYPE_CHECKING, Any

from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from archcalc.importers.hf._helpers.reading import Config, Fields
    from archcalc.importers.hf._helpers.weights import Weights

_USUAL: dict[str, Any] = {"USUAL": "causal", "INERT": {}, "WEIGHTS": None, "unused_flops": lambda *_: 0}
_OF_FILES = ("translate", "unused_flops")  # functions that are called like no type
_PLAIN = re.compile(r"[\w.-]{1,100}")  # a file of the folder


@dataclass(frozen=True, eq=False)
class Family:
    """What a file says of one type, with the usual values for what it leaves out."""

    name: str  # of the file
    translate: Callable[[Config], Fields]
    usual: str
    inert: Mapping[str, str]
    weights: Weights | None
    unused_flops: Callable[[Any, Any, int], int]


@cache
def translators() -> dict[str, Family]:
    """All supported model types, and what is said of each."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)
    return {model_type: family for name in names for model_type, family in _families(name).items()}


def translator(model_type: str) -> Family | None:
    """In the file that the type's defaults name, so that others need not load; None for an unsupported type."""
    file = data_root() / "hf" / f"{model_type}.json"
    if not _PLAIN.fullmatch(model_type) or not file.is_file():
        return None
    name = json.loads(file.read_text(encoding="utf-8")).get("family")
    return name and _families(name)[model_type]


@cache
def _families(name: str) -> dict[str, Family]:
    """The types that a file reads, and what it says of each."""
    said = vars(importlib.import_module(f"{__name__}.{name}"))
    functions = {word: each for word, each in said.items() if isfunction(each) and each.__module__ == said["__name__"]}
    further = said.get("TYPES", (name,) if "translate" in said else ())
    types = {word: each for word, each in functions.items() if word not in _OF_FILES and not word.startswith("_")}
    types |= further if isinstance(further, dict) else dict.fromkeys(further, said.get("translate"))
    found = {}
    for model_type, translate in types.items():
        reads = getattr(translate, "func", translate).__name__  # of a partial, that which it calls
        facts = {word: said.get(word, usual) for word, usual in _USUAL.items()}
        for word, fact in facts.items():
            if isinstance(fact, dict) and fact.keys() <= functions.keys():
                facts[word] = fact.get(reads, _USUAL[word])
        found[model_type] = Family(name, translate, *facts.values())
    return found
