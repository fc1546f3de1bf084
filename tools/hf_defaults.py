"""Write presets/hf: what the config classes of the installed transformers declare, before anything is derived.

    python tools/hf_defaults.py            # every model type that archcalc reads and transformers registers
    python tools/hf_defaults.py llama t5

A config.json leaves defaults out, so they are needed to read one. They are the class's raw defaults: what
`__post_init__` derives (head_dim from hidden_size, say) must follow from the file's sizes, not from the default ones.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import transformers
from transformers import CONFIG_MAPPING, PreTrainedConfig
from transformers.models.auto import modeling_auto

from archcalc.importers.hf import translators
from archcalc.spec.paths import data_root

TASKS = {  # what a class is for, by the auto mapping it stands in; the first one wins
    "multimodal": "MODEL_FOR_MULTIMODAL_LM_MAPPING",
    "base": "MODEL_MAPPING",
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING",
    "seq2seq": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
    "speech": "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING",
    "image": "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING",
    "sequence": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING",
    "token": "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING",
    "answer": "MODEL_FOR_QUESTION_ANSWERING_MAPPING",
    "choice": "MODEL_FOR_MULTIPLE_CHOICE_MAPPING",
    "encoder": "MODEL_FOR_TEXT_ENCODING_MAPPING",
    "pretraining": "MODEL_FOR_PRETRAINING_MAPPING",
    "next": "MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING",
    "audio": "MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING",
    "ctc": "MODEL_FOR_CTC_MAPPING",
    "frames": "MODEL_FOR_AUDIO_FRAME_CLASSIFICATION_MAPPING",
    "voice": "MODEL_FOR_AUDIO_XVECTOR_MAPPING",
    "masked_image": "MODEL_FOR_MASKED_IMAGE_MODELING_MAPPING",
    "backbone": "MODEL_FOR_BACKBONE_MAPPING",
    "pixels": "MODEL_FOR_CAUSAL_IMAGE_MODELING_MAPPING",
}
PIECES = ("", "gemma4_unified_vision", "gemma4_unified_audio")  # types of configs that no class is built from
OTHERS = {  # classes that stand in no mapping, or second in one
    "gpt2": {"GPT2DoubleHeadsModel": "double"},
    "dpr": {"DPRContextEncoder": "base", "DPRReader": "reader"},
    "vision-encoder-decoder": {"VisionEncoderDecoderModel": "seq2seq"},
    "clip_text_model": {"CLIPTextModelWithProjection": "projection"},
    "audioflamingo3": {"AudioFlamingo3ForConditionalGeneration": "multimodal"},
    "siglip_text_model": {"SiglipTextModel": "base"},
    "siglip2_text_model": {"Siglip2TextModel": "base"},
    "chinese_clip_text_model": {"ChineseCLIPTextModel": "base"},
    "clip_vision_model": {"CLIPVisionModelWithProjection": "projection"},
    "beit": {"BeitForMaskedImageModeling": "masked_image"},
    "step3p5": {"Step3p7TextModel": "base", "Step3p5ForCausalLM": "causal"},
    "step3p5_vision": {"Step3p7VisionModel": "base"},
    "step3p7": {"Step3p7FlashForCausalLM": "causal"},
    "deit": {"DeiTForImageClassificationWithTeacher": "teacher"},
}


def described(model_type: str) -> dict[str, Any]:
    """One type: its class's raw defaults, aliases, RoPE, and the model classes with what each is for."""
    config = CONFIG_MAPPING[model_type]
    return {
        "config": config.__name__,
        "family": translators()[model_type].name,
        "defaults": defaults(config),
        **inner_defaults(config),
        **parts(config),
        "aliases": dict(config.attribute_map),
        "theta": config.default_theta,
        **rope(config),
        **labels(config),
        "classes": classes(model_type),
        "usual": translators()[model_type].usual,
        "attention": attention(model_type),
        "softmax": softmax(model_type),
    }


def inner_defaults(config: type[PreTrainedConfig]) -> dict[str, Any]:
    """Of configs inside the config that are no model of their own, such as DBRX's attn_config."""
    nameless = {name: part for name, part in config.sub_configs.items() if getattr(part, "model_type", None) in PIECES}
    return {"inner": {name: defaults(part) for name, part in nameless.items()}} if nameless else {}


def parts(config: type[PreTrainedConfig]) -> dict[str, Any]:
    """Models inside the model: the type of each, whether it is always that, its fields where a file says nothing."""
    found = {
        name: {
            "type": spec.model_type or spec.config_class.model_type,
            "fixed": issubclass(spec.config_class, PreTrainedConfig),
            "fields": spec.init_kwargs,
        }
        for name, spec in config.sub_configs_defaults.items()
    }
    return {"parts": found} if any(each["type"] for each in found.values()) else {}


def rope(config: type[PreTrainedConfig]) -> dict[str, Any]:
    """What a class takes for RoPE beyond its base: the rotated share of a head, or both for each kind of layer."""
    found = getattr(_made(config), "rope_parameters", None) or {}
    if any(isinstance(value, dict) for value in found.values()):
        return {"rope": {layer: _rotation(said) for layer, said in found.items()}}
    share = _named(found, "partial_rotary_factor")
    return {"rope": share} if share else {}


def _rotation(said: dict[str, Any]) -> dict[str, Any]:
    """The base and the rotated share, and the kind of RoPE where that is not the usual one."""
    scaled = {"rope_type"} if said.get("rope_type", "default") != "default" else set()
    return _named(said, "rope_theta", "partial_rotary_factor", *scaled)


def labels(config: type[PreTrainedConfig]) -> dict[str, Any]:
    """How many classes a head has where the file says nothing, if that is not two."""
    made = _made(config)
    return {"labels": made.num_labels} if made and made.num_labels != 2 else {}


def _made(config: type[PreTrainedConfig]) -> PreTrainedConfig | None:
    """A config of a class's defaults; None for one that cannot be made without its parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return config()
        except Exception:
            return None


def _named(said: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: said[key] for key in keys if key in said}


def attention(model_type: str) -> str:
    """`fused` where the type's classes call PyTorch's scaled_dot_product_attention by default, else `eager`."""
    module = _modeling(model_type)
    made = [getattr(module, name) for name in classes(model_type) if hasattr(module, name)]
    return "eager" if made and not any(one._supports_sdpa for one in made) else "fused"


def softmax(model_type: str) -> str:
    """`fp32` where eager attention of the type's classes computes softmax in fp32 and casts it back, else `input`."""
    sources = _softmax_sources(_modeling(model_type))
    wide = ["torch.float32" in source or ".float()" in source for source in sources]
    return "fp32" if wide and all(wide) else "input"


def _modeling(model_type: str) -> ModuleType | None:
    """The module of its classes; of a part of another model, the one beside its config class."""
    beside = CONFIG_MAPPING[model_type].__module__.replace(".configuration_", ".modeling_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # modules that PyTorch has deprecated something in
        named = [name for name in classes(model_type) if hasattr(transformers, name)]
        try:
            return importlib.import_module(getattr(transformers, named[0]).__module__ if named else beside)
        except ModuleNotFoundError:
            return None


def _softmax_sources(module: ModuleType | None) -> list[str]:
    """What `eager_attention_forward` does, or else attention's methods: some cast queries and keys before. A method
    that casts if the config asks for it is not the usual one."""
    if module is None:
        return []
    eager = getattr(module, "eager_attention_forward", None)
    if eager:
        return _telling(ast.parse(inspect.getsource(eager)))
    tree = ast.parse(inspect.getsource(module))
    layers = [node for node in tree.body if isinstance(node, ast.ClassDef) and "Attention" in node.name]
    methods = [node for layer in layers for node in layer.body if isinstance(node, ast.FunctionDef)]
    usual = [node for node in methods if "upcast" not in node.name]
    return [source for node in usual for source in _telling(node)]


def _telling(method: ast.AST) -> list[str]:
    """The calls, where they say in which numbers; else all of a method that calls softmax."""
    calls = [ast.unparse(node) for node in ast.walk(method) if _is_softmax(node)]
    return calls if not calls or any("dtype=" in call for call in calls) else [ast.unparse(method)]


def _is_softmax(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and "softmax" in ast.unparse(node.func).lower()


def defaults(config: type[PreTrainedConfig]) -> dict[str, Any]:
    """Without the fields of every config, which `base.json` has."""
    common = {} if config is PreTrainedConfig else defaults(PreTrainedConfig)
    own = {field.name: _default(field) for field in dataclasses.fields(config)}
    return {name: value for name, value in own.items() if name not in common or common[name] != value}


def _default(field: dataclasses.Field[Any]) -> Any:
    made = field.default
    if not isinstance(field.default_factory, dataclasses._MISSING_TYPE):
        made = field.default_factory()
    return list(made) if isinstance(made, tuple) else made


def classes(model_type: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for task, mapping in TASKS.items():
        named = getattr(modeling_auto, f"{mapping}_NAMES").get(model_type, ())
        for name in [named] if isinstance(named, str) else named[:1]:
            found.setdefault(name, task)
    return {**found, **OTHERS.get(model_type, {})}


def text(data: dict[str, Any]) -> str:
    """A line for each entry, so that a change of a class is a line in a diff."""
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def files(types: Iterable[str]) -> dict[str, str]:
    """Every file's name and text; what was written by hand about the code of a type is kept."""
    made = {f"{model_type}.json": text(described(model_type) | by_hand(model_type)) for model_type in types}
    return {"base.json": text({"defaults": defaults(PreTrainedConfig)}), **made}


def by_hand(model_type: str) -> dict[str, Any]:
    """How libraries compute its layers (`archcalc.run.code.library`)."""
    file: Path = data_root() / "hf" / f"{model_type}.json"
    written = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {key: written[key] for key in ("code",) if key in written}


def registered() -> list[str]:
    """The types that archcalc reads, without those whose code lies beside weights: their files are written by hand."""
    return sorted(set(translators()) & set(CONFIG_MAPPING))


def main() -> None:
    folder: Path = data_root() / "hf"
    for name, written in files(sys.argv[1:] or registered()).items():
        (folder / name).write_text(written, encoding="utf-8")
        print(f"{len(written):6,} bytes  {name}")


if __name__ == "__main__":
    main()
