"""Measured cases as models: a spec from the shapes that a log or a table prints.

`described(case)` is for questions about the cache alone, which many logs print enough for; `whole(case)` is for
questions about weights, and refuses what would have to be guessed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from measured_codes import Case
from measured_shapes import Fields, fields, named
from measured_units import Inexpressible

from archcalc import load
from archcalc.model import Model
from archcalc.spec.paths import presets

_COUNT = re.compile(r"([\d.,]+) B")  # 27.009 B

LATENT: dict[Any, str] = {
    (61, 256): "deepseek-v3",
    (61, 384): "kimi-k2",
    (27, 64): "deepseek-v2-lite",
}  # by layers and experts
POSITIONS = {  # published max_position_embeddings, of which vLLM makes RoPE's table
    "llama-3.": 131_072,
    "llama-2-": 4_096,
    "mistral-7b": 32_768,
    "qwen2": 32_768,
    "qwen3-coder": 262_144,
    "2507": 262_144,
    "phi-4": 16_384,
    "olmo-2": 4_096,
    "llama-3-": 8_192,
    "granite-3.": 131_072,
    "codellama": 16_384,
    "deepseek-r1-distill-qwen": 131_072,
    "deepseek": 163_840,
    "mixtral": 32_768,
    "qwen3": 40_960,
    "gemma": 8_192,
    "gpt-oss": 131_072,
    "phi-2": 2_048,
    "llama-4-scout": 10_485_760,
    "llama-4-maverick": 1_048_576,
    "qwen3-vl": 4 * 262_144,  # for the positions of videos, mrope.py
    "ministral-3-": 262_144,
    "granite-vision-3.3": 131_072,
}
TOWERS = {  # parameters of the published vision configs and their projectors, built by transformers on the meta device
    "llama-4-": 850_960_896 + 20_971_520,
    "qwen3-vl-30b": 538_631_408,
    "ministral-3-14b": 403_305_472 + 35_652_608,
    "granite-vision-3.3-2b": 428_225_600 + 13_635_584,
}


# Shapes of encoders, of two stacks, of images, of states: nothing that a decoder alone has
OTHERWISE = {
    "dec_layers",
    "enc_layers",
    "patch",
    "mels",
    "type_vocab",
    "pooler",
    "embed_dim",
    "embed_layernorm",
    "post_ln",
}
OTHERWISE |= {"d_kv", "d_inner", "d_state", "lstm", "text", "conv_feature_extractor"}
CONFIGS: dict[str, Fields] = yaml.safe_load(Path(__file__).with_name("measured_configs.yaml").read_text("utf-8"))


def described(case: Case) -> Model:
    """The model as far as its cache goes; what the log leaves out is filled in with something harmless."""
    return _loaded(case, fields(case, guess=True))


def positions(case: Case) -> int:
    """How many a model is made for; 0 where this is not known here."""
    return _longest(case, POSITIONS)


def tower(case: Case) -> int:
    """Parameters that read images; 0 where the model has none, or none that is known here."""
    return _longest(case, TOWERS)


def tower_gpus(case: Case, tp: int) -> int:
    """Over how many GPUs vLLM divides it: Pixtral's is whole on each of them (pixtral.py)."""
    return 1 if "ministral" in case["model"].lower() else tp


def _longest(case: Case, table: dict[str, int]) -> int:
    return table.get(named(case["model"], table), 0)


def whole(case: Case) -> Model:
    """The model with every weight."""
    name, arch = case["model"].lower(), case["arch"]
    if name in CONFIGS:
        return _configured(CONFIGS[name])
    if name.endswith("deepseek-v3.2"):
        return _configured(CONFIGS["deepseek-v3.2"])
    if not arch or OTHERWISE & set(arch):
        return _preset(name)
    if arch.get("arch") == "deepseek2":
        return _latent(arch)
    if (arch.get("vision") or "vl-" in name) and not tower(case):
        raise Inexpressible("a vision tower whose shapes the case does not give")
    return _tied_as_counted(case, fields(case, guess=False))


def _preset(name: str) -> Model:
    """The one of that name, where a case gives no shapes; `ResNet50` and `resnet-50` are one name."""
    plain = {_letters(known): known for known in presets()}
    if _letters(name) not in plain:
        raise Inexpressible("the case does not give the model's shapes")
    return load(plain[_letters(name)])


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9.]", "", name.lower().rpartition("/")[2])


def _latent(arch: Fields) -> Model:
    """DeepSeek's and Moonshot's, of which a log prints too little: the preset of as many layers, experts and words."""
    preset = LATENT.get((arch.get("layers"), arch.get("experts")))
    model = load(preset) if preset else None
    if model is None or getattr(model.resolved, "head_vocab", None) != arch.get("vocab"):
        raise Inexpressible("the case does not give the widths of latent attention")
    return model


def _tied_as_counted(case: Case, said: Fields) -> Model:
    """Where a case does not say whether the head is tied, the number of parameters that it gives does."""
    model, counted = _loaded(case, said), _counted(case)
    if case["arch"].get("tie") is not None or not counted:
        return model
    tied = _loaded(case, {**said, "head": "tied"})
    return min((model, tied), key=lambda each: abs(int(each.params().total) - counted))


def _counted(case: Case) -> float:
    printed = _COUNT.match(str(case["measured"].get("model_params_str") or ""))
    if printed:
        return float(printed[1].replace(",", ".")) * 10**9
    return float(case["measured"].get("params") or case["arch"].get("params") or 0)


def _configured(config: Fields) -> Model:
    """A preset, a spec, or the fields of a config.json."""
    if "preset" in config:
        return load(config["preset"], set=config.get("set", ()))
    if "spec" in config:
        return load(config["spec"])
    with TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        return load(file)


def _loaded(case: Case, said: Fields) -> Model:
    return load({"name": case["model"], **said})
