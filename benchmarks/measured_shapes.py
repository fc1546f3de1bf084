"""The fields of a spec from the shapes that a log or a table prints, in whatever words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from measured_codes import Case
from measured_units import Inexpressible, number

Fields = dict[str, Any]

EXPERT_WIDTHS = {"qwen3-235b": 1536, "qwen3-30b": 768}  # not in the logs
DEEPSEEK = {"kv_lora_rank": 512, "qk_rope": 64, "qk_nope": 128, "v_head": 128}  # nor are these
WINDOWS = {  # published sliding_window, and local blocks before each full one
    "gemma-2-": (4_096, 1),
    "gemma-3-": (1_024, 5),
    "gemma-3-1b": (512, 5),
    "gemma-3-270m": (512, 5),
    "gpt-oss": (128, 1),
}
CHUNK = 8_192  # published attention_chunk_size of Llama 4


def named(model: str, names: Iterable[str]) -> str:
    """The longest of these names that a model's holds, nothing where it holds none; `Gemma3 27B` is `gemma-3-27b`."""
    return max((name for name in names if _spelled(name) in _spelled(model)), key=len, default="")


def _spelled(name: str) -> str:
    return re.sub(r"[\s_:]+|(?<=[a-z])(?=\d)", "-", name.lower())


def fields(case: Case, *, guess: bool) -> Fields:
    """Those of a spec; what a case leaves out is refused, or filled in with something harmless if it may be guessed."""
    arch, name = _shapes(case), case["model"]
    found: Fields = {
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
    found |= {"head_dim": arch["head_dim"]} if arch.get("head_dim") else {}
    if arch.get("experts"):
        _add_experts(found, arch, name, guess)
    if arch.get("attn") or arch.get("kv_lora_rank"):
        _add_latent(found, arch, guess)
    if arch.get("qk_norm") or named(name, ["qwen3"]):
        found["attention"]["qk_norm"] = "head"
    if arch.get("qkv_bias"):
        found["attention"]["bias"] = ["q", "k", "v"]
    if windows := _windows(arch, name):
        _add_windows(found, arch, *windows)
    _add_family(found, arch, name)
    return found


def _shapes(case: Case) -> Fields:
    """The shapes under one set of names, whatever printed them."""
    arch = {key: _whole_number(value) for key, value in case["arch"].items()}
    if isinstance(arch.get("kv_heads"), list):  # a searched architecture: blocks without attention cache nothing
        arch["layers"] = sum(number > 0 for number in arch["kv_heads"])
        arch |= {"kv_heads": max(arch["kv_heads"]), "heads": 128, "ffn": None}
    if arch.get("full_attn_layers"):  # a hybrid of which the log prints the attention alone
        arch |= {"layers": arch["full_attn_layers"], "heads": arch["kv_heads"], "hidden": 4096}
    if _is_latent(case, arch):
        arch |= {"attn": "MLA", **DEEPSEEK}
    arch.setdefault("head_dim", arch.get("head_dim_k"))
    arch["heads"] = arch.get("heads") or arch.get("kv_heads")
    arch["vocab"] = arch.get("vocab") or 32_000
    if arch.get("conv_feature_extractor") or not all(arch.get(key) for key in ("layers", "hidden", "heads")):
        raise Inexpressible("the case does not give the model's shapes")
    return arch


def _whole_number(value: Any) -> Any:
    """`"4096"` as some logs have it, and 4096.0."""
    is_one = isinstance(value, (str, float)) and re.fullmatch(r"\d+(\.0*)?", str(value))
    return number(value) if is_one else value


def _is_latent(case: Case, arch: Fields) -> bool:
    """Whether llama.cpp caches a latent vector, by the flag or by what the log says of its cache."""
    said = f"{case['flags'].get('kv_types')}"
    asked = any(number(where.get("mla_attn")) for where in (arch, case["flags"]))
    return arch.get("arch") == "deepseek2" and (asked or "c^KV" in said)


def _ffn_width(arch: Fields, guess: bool) -> int:
    width = arch.get("ffn") or arch.get("moe_ffn")
    if not width and not guess:
        raise Inexpressible("the case does not give the width of the feed-forward layers")
    return int(width or arch["hidden"])


def _add_experts(fields: Fields, arch: Fields, name: str, guess: bool) -> None:
    width = arch.get("moe_ffn") or EXPERT_WIDTHS.get(named(name, EXPERT_WIDTHS))
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


def _windows(arch: Fields, name: str) -> tuple[int, int] | None:
    """As the case gives them, else as the published config does. A window without a pattern is every block's, as it is
    in a config.json (EngineArgs.create_engine_config in vLLM)."""
    published = WINDOWS.get(named(name, WINDOWS))
    window = arch.get("sliding_window")
    if window is None:
        return published
    local = _before_a_full(arch)
    if local is None:
        local = published[1] if published else 0
    return (number(window), local) if window else None


def _before_a_full(arch: Fields) -> int | None:
    """Of `5:1`, of a turn of 6 and of 40 windowed among 48 blocks it is 5; `alternate` says no number."""
    said = str(arch.get("sw_pattern") or arch.get("sliding_window_pattern") or "")
    if re.fullmatch(r"\d+", said):
        return number(said) - 1
    if ratio := re.match(r"(\d+) *:", said):
        return number(ratio[1])
    local, layers = number(arch.get("swa_layers")), number(arch["layers"])
    return local // (layers - local) if 0 < local < layers else None


def _add_windows(fields: Fields, arch: Fields, window: int, local: int) -> None:
    """So many local blocks before a full one, in turns; of 0, all blocks are local."""
    part = "moe" if arch.get("experts") else "ffn"
    fields["variants"] = {"local": {"like": "attention", "window": window}}
    turns = [f"{local} × local {part}", f"attention {part}"] if local else [f"local {part}"]
    fields["decoder"]["pattern"] = turns


def _add_family(fields: Fields, arch: Fields, name: str) -> None:
    """What no log prints and every reader of the model knows."""
    if arch.get("norms_per_layer") == 4:
        fields["norm"] = {"kind": "rms", "place": "sandwich"}
    if named(name, ["gpt-oss"]):
        fields["attention"] |= {"bias": True, "sinks": True}
        fields["moe"] |= {"bias": True, "router_bias": True}
    if named(name, ["llama-4-"]):
        fields["variants"] = {"chunked": {"like": "attention", "chunk": CHUNK}}
        fields["decoder"]["pattern"] = ["3 × chunked moe", "attention moe"]
    if named(name, ["llama-4-maverick"]):
        fields["decoder"]["pattern"] = ["chunked ffn", "chunked moe", "chunked ffn", "attention moe"]
        fields["ffn"] = {"width": 16384, "act": "silu", "gated": True}
    if arch.get("mlp") == "gelu" or (arch.get("bias") and not {"mlp", "act"} & set(arch)):
        fields["ffn"] |= {"act": "gelu", "gated": False}
        fields |= {"norm": "layer", "bias": bool(arch.get("bias"))}
    if arch.get("act"):
        _add_said(fields, arch)
    if arch.get("pos") == "alibi":
        fields["position"] = "alibi"
    if arch.get("learned_pos") or arch.get("max_pos"):
        fields["position"] = {"kind": "learned", "length": arch.get("learned_pos") or arch["max_pos"]}
    if named(name, ["phi-2", "falcon"]):
        fields["parallel"] = "shared"
    if named(name, ["phi-2"]):
        fields["head"] = {"kind": "lm", "bias": True}
    if named(name, ["pythia", "stablelm-base-alpha"]):
        fields["parallel"] = "separate"


def _add_said(fields: Fields, arch: Fields) -> None:
    """Where a case says what others leave to its readers."""
    if "ffn" in fields:
        fields["ffn"] |= {"act": arch["act"], "gated": bool(arch.get("gated"))}
    fields |= {"norm": arch.get("norm") or "rms", "bias": bool(arch.get("bias"))}
