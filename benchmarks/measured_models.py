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

from archcalc import load
from archcalc.model import Model

_COUNT = re.compile(r"([\d.,]+) B")  # 27.009 B

Case = dict[str, Any]
Fields = dict[str, Any]

EXPERT_WIDTHS = {"qwen3 235b": 1536, "qwen3-235b": 1536, "qwen3 30b": 768, "qwen3-30b": 768}  # not in the logs
DEEPSEEK = {"kv_lora_rank": 512, "qk_rope": 64, "qk_nope": 128, "v_head": 128}  # nor are these
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


CONFIGS: dict[str, Fields] = yaml.safe_load(Path(__file__).with_name("measured_configs.yaml").read_text("utf-8"))


class Inexpressible(Exception):
    """Why a case cannot be put into archcalc's words."""


def described(case: Case) -> Model:
    """The model as far as its cache goes; what the log leaves out is filled in with something harmless."""
    return _loaded(case, _fields(case, guess=True))


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
    """By the longest name that the model's begins with or holds."""
    named = [word for word in table if word in case["model"].lower()]
    return table[max(named, key=len)] if named else 0


def whole(case: Case) -> Model:
    """The model with every weight."""
    name, arch = case["model"].lower(), case.get("arch") or {}
    if case["id"] in CONFIGS:
        return _configured(CONFIGS[case["id"]])
    if name.endswith("deepseek-v3.2"):
        return _configured(CONFIGS["deepseek-v3.2"])
    if arch.get("arch") == "deepseek2":
        return _latent(arch)
    if (arch.get("vision") or "vl-" in name) and not tower(case):
        raise Inexpressible("a vision tower whose shapes the case does not give")
    return _tied_as_counted(case, _fields(case, guess=False))


def _latent(arch: Fields) -> Model:
    """DeepSeek's and Moonshot's, of which a log prints too little: the preset of as many layers, experts and words."""
    preset = LATENT.get((arch.get("layers"), arch.get("experts")))
    model = load(preset) if preset else None
    if model is None or getattr(model.resolved, "head_vocab", None) != arch.get("vocab"):
        raise Inexpressible("the case does not give the widths of latent attention")
    return model


def _tied_as_counted(case: Case, fields: Fields) -> Model:
    """Where a log does not say whether the head is tied, the number of parameters that it prints does."""
    model, printed = _loaded(case, fields), _COUNT.match(case["measured"].get("model_params_str") or "")
    if "tie" in case["arch"] or not printed:
        return model
    tied = _loaded(case, {**fields, "head": "tied"})
    counted = float(printed[1].replace(",", ".")) * 10**9
    return min((model, tied), key=lambda each: abs(int(each.params().total) - counted))


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


def _loaded(case: Case, fields: Fields) -> Model:
    return load({"name": case["model"], **fields})


def _fields(case: Case, *, guess: bool) -> Fields:
    arch, name = _shapes(case), case["model"].lower()
    fields: Fields = {
        "vocab": arch["vocab"],
        "d_model": arch["hidden"],
        "heads": arch["heads"],
        "kv_heads": arch.get("kv_heads") or arch["heads"],
        "bias": False,
        "norm": "rms",
        "position": "rope",
        "head": "tied" if arch.get("tie") else "lm",
        "decoder": {"blocks": arch["layers"]},
        "attention": {},
        "ffn": {"width": _ffn_width(arch, guess), "act": "silu", "gated": True},
    }
    fields |= {"head_dim": arch["head_dim"]} if arch.get("head_dim") else {}
    if arch.get("experts"):
        _add_experts(fields, arch, name, guess)
    if arch.get("attn") or arch.get("kv_lora_rank"):
        _add_latent(fields, arch, guess)
    if arch.get("qk_norm") or "qwen3" in name:
        fields["attention"]["qk_norm"] = "head"
    if arch.get("qkv_bias"):
        fields["attention"]["bias"] = ["q", "k", "v"]
    if arch.get("sliding_window"):
        _add_windows(fields, arch)
    _add_family(fields, arch, name)
    return fields


def _shapes(case: Case) -> Fields:
    """The shapes under one set of names, whatever printed them."""
    arch = dict(case.get("arch") or {})
    if isinstance(arch.get("kv_heads"), list):  # a searched architecture: blocks without attention cache nothing
        arch["layers"] = sum(number > 0 for number in arch["kv_heads"])
        arch |= {"kv_heads": max(arch["kv_heads"]), "heads": 128, "ffn": None}
    if arch.get("full_attn_layers"):  # a hybrid of which the log prints the attention alone
        arch |= {"layers": arch["full_attn_layers"], "heads": arch["kv_heads"], "hidden": 4096}
    if arch.get("arch") == "deepseek2" and arch.get("mla_attn") in ("1", "2", "3"):
        arch |= {"attn": "MLA", **DEEPSEEK}
    arch.setdefault("head_dim", arch.get("head_dim_k"))
    arch.setdefault("heads", arch.get("kv_heads"))
    arch.setdefault("vocab", 32_000)
    if arch.get("conv_feature_extractor") or not all(arch.get(key) for key in ("layers", "hidden", "heads")):
        raise Inexpressible("the case does not give the model's shapes")
    return arch


def _ffn_width(arch: Fields, guess: bool) -> int:
    width = arch.get("ffn") or arch.get("moe_ffn")
    if not width and not guess:
        raise Inexpressible("the case does not give the width of the feed-forward layers")
    return int(width or arch["hidden"])


def _add_experts(fields: Fields, arch: Fields, name: str, guess: bool) -> None:
    width = arch.get("moe_ffn") or next((size for word, size in EXPERT_WIDTHS.items() if word in name), None)
    if not width and not guess:
        raise Inexpressible("the case does not give the experts' width")
    width = width or arch["hidden"]
    moe: Fields = {"experts": arch["experts"], "top": arch["experts_active"], "width": width}
    shared = arch.get("shared_ffn") or (arch.get("shared_experts") or 0) * width
    correction = {"correction": True} if arch["experts"] == 256 and shared else {}  # DeepSeek V3's router
    fields["moe"] = moe | ({"shared": shared} if shared else {}) | correction
    dense = arch.get("dense_layers") or 0
    patterns = [f"{dense} × attention ffn"] if dense else []
    fields["decoder"]["pattern"] = [*patterns, f"{arch['layers'] - dense} × attention moe"]
    if not dense:
        del fields["ffn"]


def _add_latent(fields: Fields, arch: Fields, guess: bool) -> None:
    if "indexer_bytes_per_token_layer" in arch and not guess:
        raise Inexpressible("the weights of a sparse attention's indexer")
    if not (arch.get("qk_nope") or guess):
        raise Inexpressible("the case does not give the widths of latent attention")
    fields["attention"] = {
        "kind": "mla",
        "kv_rank": arch["kv_lora_rank"],
        "rope_dim": arch["qk_rope"],
        "nope_dim": arch.get("qk_nope") or 128,
        "v_dim": arch.get("v_head") or 128,
        **({"q_rank": arch["q_lora_rank"]} if arch.get("q_lora_rank") else {}),
    }
    for name in ("kv_heads", "head_dim"):
        fields.pop(name, None)


def _add_windows(fields: Fields, arch: Fields) -> None:
    """Local and full blocks in turns, as Gemma 2 and gpt-oss have them."""
    part = "moe" if arch.get("experts") else "ffn"
    fields["variants"] = {"local": {"like": "attention", "window": arch["sliding_window"]}}
    fields["decoder"]["pattern"] = [f"local {part}", f"attention {part}"]


def _add_family(fields: Fields, arch: Fields, name: str) -> None:
    """What no log prints and every reader of the model knows."""
    if arch.get("norms_per_layer") == 4:
        fields["norm"] = {"kind": "rms", "place": "sandwich"}
    if "gpt-oss" in name:
        fields["attention"] |= {"bias": True, "sinks": True}
        fields["moe"] |= {"bias": True, "router_bias": True}
    if "llama-4-maverick" in name:
        fields["decoder"]["pattern"] = ["attention ffn", "attention moe"]
        fields["ffn"] = {"width": 16384, "act": "silu", "gated": True}
    if arch.get("mlp") == "gelu" or (arch.get("bias") and "mlp" not in arch):
        fields["ffn"] |= {"act": "gelu", "gated": False}
        fields |= {"norm": "layer", "bias": bool(arch.get("bias"))}
    if arch.get("learned_pos") or arch.get("max_pos"):
        fields["position"] = {"kind": "learned", "length": arch.get("learned_pos") or arch["max_pos"]}
    if "phi-2" in name or "falcon" in name:
        fields["parallel"] = "shared"
    if "phi-2" in name:
        fields["head"] = {"kind": "lm", "bias": True}
    if "pythia" in name or "stablelm-base-alpha" in name:
        fields["parallel"] = "separate"
