"""Recognises JSON files of other libraries by their fields, and says what the file is and what to give instead."""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError

Said = dict[str, Any]


def recognised(said: Said) -> InputError | None:
    """What a file is, and what to do; its field tells what it is, empty for what is no description of a model.

    None for a transformers config, a spec, or an unknown file.
    """
    if isinstance(said.get("_class_name"), str):
        return _diffusers(said)
    if "peft_type" in said:
        return _peft(said)
    if isinstance(said.get("architecture"), str) and {"pretrained_cfg", "num_classes"} & said.keys():
        fact = f"this describes a timm model ({said['architecture']:.60}), which archcalc does not read"
        return InputError(fact, _COUNT_WEIGHTS, field="architecture")
    inner = said.get("model_cfg", said)
    if isinstance(inner, dict) and {"vision_cfg", "text_cfg"} <= inner.keys():
        fact = "this describes an open_clip model, which archcalc does not read"
        return InputError(fact, _COUNT_WEIGHTS, field="vision_cfg")
    for what, keys in _BESIDE.items():
        if keys & said.keys() and "model_type" not in said:
            return InputError(f"this is {what}, not the description of a model", _GIVE_CONFIG)
    return None


def _diffusers(said: Said) -> InputError:
    """A pipeline lists its components as [library, class] pairs; a component has `_class_name`."""
    name = said["_class_name"]
    lists = {key: value for key, value in said.items() if isinstance(value, list) and len(value) == 2}
    parts = [key for key, pair in lists.items() if all(isinstance(word, str) for word in pair)]
    if parts:
        fact = f"this describes a diffusers pipeline ({name:.60}), which is several models: {', '.join(parts)[:200]}"
        return InputError(fact, "give the folder of one of them; its weights in safetensors are counted")
    if "Scheduler" in name:
        return InputError(f"this describes a diffusers scheduler ({name:.60}), which has no weights", _GIVE_CONFIG)
    fact = f"this describes a diffusers model ({name:.60}); archcalc does not import diffusers classes"
    return InputError(fact, _COUNT_WEIGHTS, field="_class_name")


def _peft(said: Said) -> InputError:
    base, rank = said.get("base_model_name_or_path"), said.get("r")
    of = f" of rank {rank}" if isinstance(rank, int) else ""
    fact = f"this describes a PEFT adapter ({said['peft_type']!s:.20}{of}) for {base or 'an unnamed model'!s:.100}"
    train = f"`memory MODEL --mode train --lora {rank}`" if isinstance(rank, int) else "`memory MODEL --mode train`"
    hint = f"give the base model: {train}; adapter_model.safetensors is counted by itself"
    return InputError(fact, hint, field="peft_type")


_COUNT_WEIGHTS = "give its safetensors weights, or the folder that contains them: archcalc counts those"
_GIVE_CONFIG = "give the model's config.json, or the folder that contains it"
_BESIDE = {
    "a tokenizer's config": {"tokenizer_class", "added_tokens_decoder", "model_max_length"},
    "a tokenizer": {"added_tokens", "pre_tokenizer"},
    "the config of an image, sound or text processor": {
        "image_processor_type",
        "feature_extractor_type",
        "processor_class",
    },
    "a generation config": {"_from_model_config", "do_sample", "max_new_tokens", "temperature", "top_p"},
    "a quantisation config": {"quant_algo", "producer", "damp_percent", "w_bit"},
}
