"""Finds the language model inside a multimodal config. Only that part is counted, with a note that says so.

Vision and audio encoders and further heads are named as parts of the model that a translator does not count.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers.likeness import is_whole, joined_as
from archcalc.importers.hf._helpers.reading import MOST_LAYERS, Config, when
from archcalc.importers.hf._helpers.resembling import (
    built_by_transformers,
    first_class,
    readable_type,
    unknown_type,
    writes_text,
)
from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read

Said = dict[str, Any]

_SHARED = (
    *("dtype", "torch_dtype", "quantization_config", "compression_config", "quantization"),
    "transformers_version",
)
_BESIDE = ("vision_config", "audio_config", "text_config", "architectures", "model_type")
_TEXTS = ("text_config", "llm_config", "language_config")  # what files of other code call it, too
MTP = (  # fields of published configs that count the layers which predict further tokens
    "num_mtp_modules",  # MiniMax
    "num_nextn_predict_layers",  # DeepSeek, GLM, MiMo, Nemotron
    "num_mtp_layers",
    "_num_mtp_layers",  # EXAONE 4.5
    "mtp_num_hidden_layers",  # Qwen 3.5
    "mtp_num_layers",
)


@dataclass(frozen=True)
class Text:
    """The config to read: the whole one, or the text config inside it with the class to count that as, and notes."""

    said: Said
    task: str = ""  # that of the class which the config names
    name: str = ""
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    left_out: tuple[str | Said, ...] = ()  # the other parts of the model
    outer: str = ""  # the type of the whole, where this is a part
    whole: Said = field(default_factory=dict)  # the config of the whole, where this is a part


def text_of(said: Said, asked: str = "") -> Text:
    """The config that is read: mostly all of it; of a model that is not read whole, its language model."""
    return Text(said) if translator(readable_type(said)) or is_whole(asked) else language_of(said)


def language_of(said: Said) -> Text:
    """The language model of a config."""
    outer, key = said.get("model_type"), _key(said)
    about = known().get(str(outer), {})
    if about is None:
        raise unknown_type(said)
    if not about and not key:
        return Text(said)
    inner = _inner(said, about, key)
    model_type = _type_of(inner, outer, about)
    family = translator(model_type)
    if family is not None and family.usual != "causal":  # a text encoder beside a vision encoder
        fact = f"{outer} is more than its text_config ({model_type}), which is not a language model by itself"
        raise InputError(fact, "--trace counts it with transformers, if that is installed", field="model_type")
    tied = _tied(said, inner, about)
    shared: Said = {key: said[key] for key in _SHARED if key in said}
    key = key or "text_config"
    note = f"{outer} is multimodal: only its {key} ({model_type}) is counted, the rest of the model is not"
    own = {**when(tied is not None, tie_word_embeddings=tied), "model_type": model_type, "architectures": None}
    return Text(
        {**shared, **inner, **own},
        task=_task(said),
        name=f"text model of {outer}",
        notes=(note,),
        doubts=() if about else (_taken(said, key, model_type),),
        left_out=_others(said, key),
        outer=str(outer),
        whole=said,
    )


def _taken(said: Said, key: str, model_type: str) -> str:
    """Of a model whose own class nobody has read."""
    outer = said.get("model_type")
    taken = f"archcalc does not know model_type {outer}: that its {key} is a whole {model_type} is taken for granted"
    same = [f"`--like {like}` reads the whole, if its parts are joined as there" for like in joined_as(said)]
    return "; ".join([taken, *same])


def _key(said: Said) -> str:
    """Where the language model stands in a file."""
    return next((key for key in _TEXTS if isinstance(said.get(key), dict)), "")


def _inner(said: Said, about: Said, key: str) -> Said:
    """The text config, with what the class takes for granted about it."""
    inner = said.get(key)
    if isinstance(inner, dict):
        return {**when(about and about["merged"], **about.get("fields", {})), **inner}
    if about["flat"] and "hidden_size" in said:  # older files have its fields at the top, beside a vision_config
        return {key: value for key, value in said.items() if key not in _BESIDE}
    fields: Said = about["fields"]
    return fields


_ENCODERS = {
    "vision_config": {"part": "vision encoder and projector", "needed": "images"},
    "audio_config": {"part": "audio encoder and projector", "needed": "audio"},
}


def _others(said: Said, text: str) -> tuple[str | Said, ...]:
    """Lists the configs beside that of the text; a file that relies on defaults may have none."""
    keys = [key for key, value in said.items() if key.endswith("_config") and isinstance(value, dict)]
    others = [key for key in keys if key not in (text, "quantization_config", "compression_config")]
    return tuple(_ENCODERS.get(key, f"what {key} describes") for key in others) or ("all that is not text",)


@cache
def known() -> dict[str, Said | None]:
    """Model types that contain a language model, as `tools/hf_texts.py` found them; None for an unsupported one."""
    found: dict[str, Said | None] = json.loads((data_root() / "hf" / "texts.json").read_text(encoding="utf-8"))
    return found


def _type_of(inner: Said, outer: Any, about: Said) -> str:
    """Some classes always use their own text config class, whatever model_type the file gives."""
    if about and (about["fixed"] or not inner.get("model_type")):
        return str(about["text"])
    found = readable_type({**inner, "model_type": str(inner.get("model_type") or f"{outer}_text")})
    if about and not translator(found) and found not in built_by_transformers() and found.startswith(str(outer)):
        return str(about["text"])  # as of exaone4_5_text, which transformers now calls exaone4
    return found


def _tied(said: Said, inner: Said, about: Said) -> bool | None:
    """Which config decides whether the head is tied: the outer one, the inner one, or either."""
    key, rule = "tie_word_embeddings", about.get("tie", "first")
    own = said.get(key)
    if rule == "never":
        return False
    if rule == "first" and own is not None:
        return bool(own)
    if own is None:
        own = about.get("tied")
    if rule == "outer" or (rule == "either" and own):
        return bool(own)
    return inner.get(key)


def _task(said: Said) -> str:
    """Classes that write text have an LM head, a bare model has none. Other heads are not counted."""
    name = first_class(said)
    if not name or writes_text(name):
        return "causal"
    if name.endswith("Model"):
        return "base"
    raise InputError(f"the head of {name} is not counted", "--trace counts it", field="architectures")


def scope(c: Config, text: Text, fields: dict[str, Any]) -> dict[str, Any] | None:
    """The spec's `scope`; None where the whole model is counted."""
    c.skip(*MTP)
    known, absent = _known().get(c.type), isinstance(_known().get(c.type), dict)
    further = _further(c.spelled, c.mtp if known else None)
    if further and absent:
        c.notes.append(f"{further[0]['part']}: the config names it, and the published files hold none")
        further = []
    if "mtp" in (fields.get("head") or ""):
        further = []
    elif not further and not any(key in c.spelled for key in MTP):
        # checkpoints such as Qwen3-Next's contain multi-token prediction layers, which their configs do not mention
        skipped = json.loads((data_root() / "hf" / "unloaded.json").read_text(encoding="utf-8"))
        if skipped.get(c.type):
            words = "the checkpoint may contain multi-token prediction layers, which transformers does not load"
            c.notes.append(f"{words}: not counted")
    left_out = [*text.left_out, *c.left_out, *further]
    if not left_out:
        return None
    if text.outer:
        return {"part": "text model", "of": text.outer, "left_out": left_out}
    return {"part": "main model", "of": c.type, "left_out": left_out}


def untied(fields: dict[str, Any]) -> list[str]:
    """Notes that transformers 5 builds more embeddings than checkpoints of earlier versions contain."""
    embedding = fields.get("embedding")
    if not (isinstance(embedding, dict) and embedding.get("spare")):
        return []
    return [
        "tie_word_embeddings is false: counted as transformers 5 builds it, a table for each stack and a spare one;"
        " files that earlier versions wrote hold one table for both stacks"
    ]


def untraced(said: dict[str, Any]) -> dict[str, Any]:
    """The same for a model that transformers builds."""
    inner = said.get("text_config")
    further = _further(said)
    if not further and isinstance(inner, dict):
        further = _further(inner)
    return when(further, scope={"part": "main model", "of": said.get("model_type"), "left_out": further})


def _further(said: dict[str, Any], block: Said | None = None) -> list[Said]:
    """Multi-token prediction layers: transformers does not build them, and skips their tensors in a checkpoint."""
    layers = next((said[key] for key in MTP if type(said.get(key)) is int and said[key] > 0), 0)
    if not layers:
        return []
    words = f"multi-token prediction ({layers} {'layer' if layers == 1 else 'layers'})"
    if block is None or (layers > 1 and block.get("once")):
        return [{"part": words, "needed": "drafts"}]
    of_each = {key: value for key, value in block.items() if key != "once"}
    number = min(layers, MOST_LAYERS)
    return [{"part": words, "needed": "drafts", "mtp": {"blocks": number, **of_each} if of_each else number}]


@cache
def _known() -> dict[str, Any]:
    """Types whose blocks for multi-token prediction are known, or known to be in no file; each with what says so."""
    file = data_root() / "hf" / "mtp.yaml"
    found: dict[str, Any] = read(file.read_bytes(), str(file)).data
    return found
