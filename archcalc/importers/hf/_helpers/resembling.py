"""Finds the known model type that an unknown config resembles, by its class name and its fields, not by spelling."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection
from functools import cache
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf import translator, translators
from archcalc.importers.hf._helpers.inert import is_inert, keys_of, listed
from archcalc.importers.hf._helpers.reading import described
from archcalc.spec.model_types import LIKE
from archcalc.spec.paths import data_root

Said = dict[str, Any]

KINDS = {  # by words of a class's name: what it is for, and the plainest type that is for the same
    "CausalLM": ("causal", "llama"),
    "LMHead": ("causal", "llama"),
    "MaskedLM": ("masked", "bert"),
    "ConditionalGeneration": ("seq2seq", "t5"),
    "Image": ("image", "vit"),
}
WRITES = ("CausalLM", "LMHead", "ConditionalGeneration", "Vision2Seq", "TextToText")  # words of classes that write text
ENOUGH = 0.5  # of a config's own fields that a type must have to be called like it
SHOWN = 5
UNSEEN = 1.0
PARTS = ("_text", "_text_model")
FEWEST = 4  # fields that tell anything
MERE = ("max_position_embeddings", "tie_word_embeddings", "pretraining_tp", "vocab_size")


def unknown_type(said: Said) -> InputError:
    """The error for an unsupported model type: the closest supported one, and whether transformers has it."""
    model_type = said.get("model_type")
    if not isinstance(model_type, str):
        like = of_class(said) or "llama"
        hint = f'add it, such as `"model_type": "{like}"`'
        return InputError("this config names no model_type", hint, field="model_type")
    fact = f"archcalc does not support model_type {model_type}"
    return InputError(fact, f"{_closest(said)}; {_traced(said, model_type)}", field="model_type")


def readable_type(said: Said) -> str:
    """A config's own type; that of the class it names, where the repository has a type of its own for that class.

    So it is with kimi_k2 and DeepseekV3ForCausalLM, and so inference engines choose their classes. A later transformers
    may have a new type for a class that is known, too.
    """
    model_type = said.get("model_type")
    if not isinstance(model_type, str):
        return ""
    is_new = "auto_map" in said or is_later(said)
    if not is_new or translator(model_type) or model_type in built_by_transformers():
        return model_type
    like = of_class(said)
    if not like:
        return model_type
    # whether the file says all of a type's sizes, by their names, and nothing else: its class may have any default
    about = described(like)
    named = {about["aliases"].get(key, key) for key in said}
    sizes = {key for key, value in about["defaults"].items() if type(value) is int and tells(key)}
    inert = {*keys_of(translators()[like].inert), *listed("uncounted"), *listed("undeclared")}
    others = {key for key in said if tells(key)} - declared()[like] - inert
    if others or not {about["aliases"].get(key, key) for key in sizes} <= named:
        return model_type
    return like


def is_later(said: Said) -> bool:
    """Whether a later transformers wrote it than the one whose types archcalc knows."""
    return _version(said.get("transformers_version")) > _version(known_version())


def known_version() -> str:
    """Of transformers."""
    return str(_types()["transformers"])


def of_class(said: Said) -> str | None:
    """The type whose class a config names, such as deepseek_v3 for a kimi_k2 of DeepseekV3ForCausalLM."""
    return _types_by_class().get(first_class(said))


def first_class(said: Said) -> str:
    """The first class that a config names, if it names one."""
    named = said.get("architectures")
    if isinstance(named, list) and named and isinstance(named[0], str):
        return named[0]
    return ""


def writes_text(name: str) -> bool:
    """Whether a class is one that writes text, by its name."""
    return any(word in name for word in WRITES)


def foreign(said: Said, like: str) -> list[str]:
    """What a config says by fields that a type has not, and that make layers of other types or are models."""
    own, others = declared()[like], _rarity().keys() - {*listed("uncounted"), *listed("undeclared")}
    return [key for key, value in said.items() if value and key not in own and (key in others or is_config(key))]


def nearest(said: Said, among: Collection[str], plain: str = "llama") -> str:
    """Of some types that which shares most fields with a config, weighted by rarity; if there are any, of those that
    have all of its fields. The plainest, where nothing tells of more."""
    told = frozenset(key for key in said if tells(key))
    fitting = [like for like in among if not foreign(said, like)]
    found = {like: _weight(told & declared()[like]) / (_weight(told | declared()[like]) or 1.0) for like in among}
    best = max(fitting or among, key=lambda like: found[like], default="")
    return plain if plain in among and told & declared()[best] <= declared()[plain] else best


def alone(task: str = "") -> list[str]:
    """Types of complete models for a task: a causal LM is not similar to an encoder or to a part of a model."""
    found = {like: family.usual for like, family in translators().items() if not like.endswith(PARTS)}
    return [like for like, usual in found.items() if task in ("", usual)]


def is_config(key: str) -> bool:
    """Whether a field is a model inside of the model."""
    return key.endswith("_config") and not key.startswith("_") and not is_inert(key)


def _closest(said: Said) -> str:
    if like := of_class(said):
        named = f"whose class {said['architectures'][0]} the config names"
        return f"the closest supported type is {like}, {named}; {_read_so(like)}"
    like, shared, others = _by_fields(said)
    if like:
        unlike = f" (but {like} has no {', '.join(others)})" if others else ""
        if said["model_type"] not in built_by_transformers() and not foreign(said, like):
            unlike += f"; {_read_so(like)}"
        return f"the closest supported type is {like}, by the fields {', '.join(shared)}{unlike}"
    task, plain = _kind(said)
    if task in ("causal", "") or any(map(is_config, said)):
        return "neither its class nor its fields are like one that is read"
    return f"the closest supported type is {plain}"


def _read_so(like: str) -> str:
    return f"if its layers are the same, `--like {like}` reads it so"


def _kind(said: Said) -> tuple[str, str]:
    """The class's task, and the plainest type for it; a config without a class is taken as a causal LM, and a bare
    model or a classifier may be of any task."""
    named = str(said.get("architectures") or "CausalLM")
    return next((kind for word, kind in KINDS.items() if word in named), ("", "llama"))


def _traced(said: Said, model_type: str) -> str:
    if model_type in built_by_transformers():
        return "`params --trace` counts this one with transformers, if that is installed"
    if is_later(said):
        return f"transformers {known_version()} has no such type; one that has it counts this with `params --trace`"
    if "auto_map" in said:
        return "its class is custom code in its repository (auto_map), which archcalc never runs"
    return "transformers has no such type, so --trace cannot count it either"


def _by_fields(said: Said) -> tuple[str, list[str], list[str]]:
    """The type that shares most fields, weighted by rarity; the shared fields, and those that are not shared."""
    told = frozenset(key for key in said if tells(key))
    task, plain = _kind(said)
    like = nearest(said, alone(task), plain)
    if not like or len(told) < FEWEST:
        return "", [], []
    shared = told & declared()[like]
    if len(shared) < ENOUGH * len(told):
        return "", [], []
    return like, sorted(shared, key=lambda key: (-_rarity()[key], key))[:SHOWN], sorted(told - shared)[:SHOWN]


def _weight(keys: frozenset[str]) -> float:
    """A field that no type has makes all of them differ."""
    return sum(_rarity().get(key, UNSEEN) for key in keys)


def tells(key: str) -> bool:
    """Whether a field describes the architecture; RoPE fields are read everywhere but not always declared."""
    return not (is_inert(key) or key.startswith(("rope_", "_")) or key in MERE)


@cache
def declared() -> dict[str, frozenset[str]]:
    """For each type the architecture fields of its class, under all of their aliases."""
    known = {like: described(like) for like in translators()}
    keys = {like: {*said["defaults"], *said["aliases"], *said["aliases"].values()} for like, said in known.items()}
    return {like: frozenset(filter(tells, named)) for like, named in keys.items()}


@cache
def _rarity() -> dict[str, float]:
    types = declared()
    common = Counter(key for fields in types.values() for key in fields)
    return {key: math.log(1 + len(types) / number) for key, number in common.items()}


@cache
def _types_by_class() -> dict[str, str]:
    """Class names that belong to exactly one type; to that which has them first, where others are like it."""
    types = {like: described(like) for like in sorted(translators(), key=lambda like: LIKE not in described(like))}
    found = {name: like for like, about in types.items() for name in about["classes"]}
    often = Counter(name for about in types.values() if LIKE not in about for name in about["classes"])
    return {name: like for name, like in found.items() if often[name] <= 1}


@cache
def built_by_transformers() -> frozenset[str]:
    """The types that transformers has classes for, as `tools/hf_types.py` found them."""
    return frozenset(_types()["types"])


@cache
def _types() -> dict[str, Any]:
    from archcalc.spec.yaml_reader import read

    file = data_root() / "hf" / "types.yaml"
    return read(file.read_bytes(), str(file)).data


def _version(said: Any) -> tuple[int, ...]:
    """Of numbers alone: 5.23.0.dev0 is 5.23."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", str(said))
    return tuple(int(number or 0) for number in found.groups()) if found else ()
