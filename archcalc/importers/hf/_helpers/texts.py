"""Finds the language model inside a multimodal config. Only that part is counted, with a note that says so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers.resembling import built_by_transformers, readable_type, unknown_type
from archcalc.spec.paths import data_root

Said = dict[str, Any]

_SHARED = ("dtype", "torch_dtype", "quantization_config", "compression_config", "quantization")
_BESIDE = ("vision_config", "audio_config", "text_config", "architectures", "model_type")


@dataclass(frozen=True)
class Text:
    """The text config to read instead of the whole config, the class to count it as, and the notes about both."""

    said: Said
    task: str
    name: str
    note: str
    left_out: tuple[str, ...]  # the other parts of the model
    outer: str  # the type of the whole
    traceable: bool  # transformers has the whole of it


def text_of(said: Said) -> Text | None:
    """None for a config that is entirely a language model or an encoder."""
    outer, inner = said.get("model_type"), said.get("text_config")
    about = known().get(outer, {}) if isinstance(outer, str) else {}
    if about is None:
        raise unknown_type(said)
    if not about and not isinstance(inner, dict):
        return None
    if not isinstance(inner, dict):
        inner = _flat(said) if about["flat"] and "hidden_size" in said else about["fields"]
    elif about and about["merged"]:
        inner = {**about["fields"], **inner}
    model_type = _type_of(inner, outer, about)
    _check_generates(model_type, outer)
    tie = {} if (tied := _tied(said, inner, about)) is None else {"tie_word_embeddings": tied}
    shared: Said = {key: said[key] for key in _SHARED if key in said}
    return Text(
        {**shared, **inner, **tie, "model_type": model_type, "architectures": None},
        _task(said),
        f"text model of {outer}",
        f"{outer} is multimodal: only its text_config ({model_type}) is counted, the rest of the model is not",
        _others(said),
        str(outer),
        bool(about),
    )


_ENCODERS = {"vision_config": "vision encoder and projector", "audio_config": "audio encoder and projector"}


def _others(said: Said) -> tuple[str, ...]:
    """Lists the configs beside text_config; a file that relies on defaults may have none."""
    keys = [key for key, value in said.items() if key.endswith("_config") and isinstance(value, dict)]
    others = [key for key in keys if key not in ("text_config", "quantization_config", "compression_config")]
    return tuple(_ENCODERS.get(key, f"what {key} describes") for key in others) or ("all that is not text",)


@cache
def known() -> dict[str, Said | None]:
    """Model types that contain a language model, as `tools/hf_texts.py` found them; None for an unsupported one."""
    found: dict[str, Said | None] = json.loads((data_root() / "hf" / "texts.json").read_text(encoding="utf-8"))
    return found


def _flat(said: Said) -> Said:
    """Older files have the language model's fields at the top level, beside a vision_config."""
    return {key: value for key, value in said.items() if key not in _BESIDE}


def _type_of(inner: Said, outer: Any, about: Said) -> str:
    """Some classes always use their own text config class, whatever model_type the file gives."""
    if about and (about["fixed"] or not inner.get("model_type")):
        return str(about["text"])
    found = readable_type({**inner, "model_type": str(inner.get("model_type") or f"{outer}_text")})
    renamed = about and not translator(found) and found not in built_by_transformers()
    return str(about["text"]) if renamed else found  # as exaone4_5_text, which transformers now calls exaone4


def _check_generates(model_type: str, outer: Any) -> None:
    """Refuses a text encoder beside a vision encoder, which is not a language model."""
    family = translator(model_type)
    if family is not None and family.usual != "causal":
        fact = f"{outer} is more than its text_config ({model_type}), which is not a language model by itself"
        raise InputError(fact, "--trace counts it with transformers, if that is installed", field="model_type")


def _tied(said: Said, inner: Said, about: Said) -> bool | None:
    """Which config decides whether the head is tied: the outer one, the inner one, or either."""
    key = "tie_word_embeddings"
    own, its = said.get(key), inner.get(key)
    rule = about.get("tie", "first")
    if rule == "never":
        return False
    if rule == "outer":
        return bool(about["tied"] if own is None else own)
    if rule == "either" and (about["tied"] if own is None else own):
        return True
    return own if rule == "first" and own is not None else its


def _task(said: Said) -> str:
    """A bare model has no head; generation classes have an LM head. Other heads are not counted."""
    named = said.get("architectures")
    name = named[0] if isinstance(named, list) and named and isinstance(named[0], str) else ""
    if name.endswith("Model"):
        return "base"
    if "Classification" in name or "QuestionAnswering" in name or "Retrieval" in name:
        raise InputError(f"the head of {name} is not counted", "--trace counts it", field="architectures")
    return "causal"
