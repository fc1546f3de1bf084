"""A config of an unknown type, read as one that somebody asks for: its class, its parts, and what does not agree."""

from __future__ import annotations

import json
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.importers.hf import Family, translator, translators
from archcalc.importers.hf._helpers.inert import listed
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.resembling import (
    alone,
    declared,
    first_class,
    is_config,
    nearest,
    tells,
    writes_text,
)
from archcalc.spec.model_types import described

Said = dict[str, Any]

WRITING = ("causal", "multimodal", "seq2seq", "speech")  # tasks of classes that write text
OTHER = "--like names a type with the same parts"
LAYERS = (  # words of fields, without which a type has no such layers
    *("expert", "attention_heads", "intermediate_size", "kv_lora_rank", "q_lora_rank"),
    *("mamba", "ssm", "state_size", "linear_num", "conv_L_cache", "lru_width", "decoder_layers"),
)


def asked_for(like: str) -> Family:
    """The translator of a type that somebody asks for by its name."""
    family = translator(like)
    if family is None:
        hint = did_you_mean(like, translators()) or "name a model type of transformers, such as llama"
        raise InputError(f"archcalc reads no model type called {like}", hint, field="like")
    return family


def is_whole(like: str) -> bool:
    """Whether a type holds a language model and what it sees or hears by."""
    return "text_config" in described(like).get("parts", {})


def joined_as(said: Said) -> list[str]:
    """The types whose parts are always of the types that the parts of a config name."""
    named = {key: value.get("model_type") for key, value in said.items() if is_config(key) and isinstance(value, dict)}
    wholes = {like: described(like).get("parts", {}) for like in translators() if is_whole(like)}
    fixed = {like: parts for like, parts in wholes.items() if all(part["fixed"] for part in parts.values())}
    return [like for like, parts in fixed.items() if {key: part["type"] for key, part in parts.items()} == named]


def read_as(said: Said, like: str) -> Said:
    """With the class of the type that is for the same, and parts that are those of the type."""
    about = described(like)
    if is_whole(like) and not any(key in said for key in ("text_config", "hidden_size")):
        raise _without(said, "text_config", like)
    if "vision_config" in about.get("parts", {}) and "vision_config" not in said:
        raise _without(said, "vision_config", like)
    parts = {key: _part(said[key], key, like) for key in about.get("parts", {}) if isinstance(said.get(key), dict)}
    return {**said, **parts, "architectures": _same_class(said, like)}


def _without(said: Said, key: str, like: str) -> InputError:
    others = [other for other in said if is_config(other)]
    named = f"the config has no {key}, which {like} has" + (f", but {', '.join(others)}" if others else "")
    return InputError(named, OTHER, field=key)


def _part(said: Said, key: str, like: str) -> Said:
    """A config inside the config. One of a known type keeps it, where the class takes any; one of an unknown type is
    read as the type's own."""
    about, named = described(like)["parts"][key], str(said.get("model_type"))
    if not about["type"]:
        return said
    if not translator(named):
        return {**said, "model_type": about["type"]}
    if about["fixed"] and not about["type"].startswith(named):
        raise InputError(f"it is of model_type {named}, and that of {like} of {about['type']}", OTHER, field=key)
    return said


def _same_class(said: Said, like: str) -> list[str] | None:
    """The class of another type that is for the same as the one which the config names."""
    name, classes = first_class(said), described(like)["classes"]
    ending = "".join(name.rpartition("For")[1:]) if "For" in name else "Model"
    named = [each for each in classes if each.endswith(ending) and writes_text(each) == writes_text(name)]
    named += [each for each, task in classes.items() if writes_text(name) and task in WRITING]
    if name and not named:
        hint = f"it has {', '.join(classes)}: --like names a type with such a class"
        raise InputError(f"{like} has no class for what {name} is for", hint, field="architectures")
    return named[:1] if name else None


def check(c: Config) -> None:
    """Refuses fields of layers that a type has not, and names the sizes that the file leaves to it."""
    if foreign := [*_unusual(c), *filter(lambda key: _is_foreign(c, key), c.ignored)]:
        raise _foreign(c, foreign[0])
    usual = {key: size for key, size in c.defaults.items() if key in c.used - c.said.keys() and _is_size(key, size)}
    for key in ("hidden_size", "num_hidden_layers"):
        if c.named(key) in usual:
            fact = f"the config has no {c.named(key)}, which {c.type} has"
            raise InputError(fact, f"write its sizes as {c.type} calls them, or name another type", field="like")
    if usual:
        taken = ", ".join(f"{key} {size}" for key, size in usual.items())
        c.doubts.append(f"sizes that the config does not name are those of {c.config_class}: {taken}")


def _unusual(c: Config) -> list[str]:
    """Sizes that many files name though their class has them not, where they are others than those that follow."""
    heads, width = c.said.get(c.named("num_attention_heads")), c.said.get(c.named("hidden_size"))
    follows = {"num_key_value_heads": heads, "head_dim": heads and width and width // heads}
    unread = [key for key in follows if not is_whole(c.type) and key not in c.declared and key not in c.used]
    return [key for key in unread if c.said.get(key, follows[key]) not in (None, follows[key])]


def _is_foreign(c: Config, key: str) -> bool:
    """A model inside of the model, or the number or size of layers that the type knows nothing of."""
    value, known = c.spelled[key], {*c.declared, *c.used}
    if is_config(key) and value and isinstance(value, dict):
        return True
    own = [word for word in LAYERS if word in key]
    return bool(own) and _is_size(key, value) and not any(word in name for word in own for name in known)


def _foreign(c: Config, key: str) -> InputError:
    closest = nearest(c.spelled, [like for like in alone() if key in declared()[like]])
    hint = f"the closest type that has it is {closest}" if closest else OTHER
    fact = f"{key}: {json.dumps(c.spelled[key])[:60]} makes layers that {c.type} has not"
    return InputError(fact, f"{hint}; if it changes none, take it out of the file", field="like")


def _is_size(key: str, size: Any) -> bool:
    return type(size) is int and size > 0 and (tells(key) or key == "vocab_size") and key not in listed("uncounted")
