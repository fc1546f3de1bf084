"""A GGUF file to a spec: its facts are translated to those of a config.json, and read by the same translators.

What comes out is believed only if it counts the same as the tensors of the file do; else the tensors themselves are the
answer, as they are for an architecture that archcalc does not know.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from archcalc.archs.weights import Stored
from archcalc.document import Document
from archcalc.errors import InputError
from archcalc.importers import gguf
from archcalc.importers.files import by_format, of_tensors
from archcalc.importers.gguf_weights import file_weights
from archcalc.importers.hf import imported
from archcalc.model import from_document

Fields = dict[str, Any]

_TYPES = {  # an architecture of llama.cpp, and the model type that is built the same
    "gemma3": "gemma3_text",
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "gpt-oss": "gpt_oss",
    "deepseek2": "deepseek_v3",
    **{
        name: name for name in ("llama", "qwen2", "qwen3", "gemma", "gemma2", "starcoder2", "stablelm", "phi3", "olmo2")
    },
}
_NAMES = {
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "attention.sliding_window": "sliding_window",
    "context_length": "max_position_embeddings",
    "rope.freq_base": "rope_theta",
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
    "expert_shared_feed_forward_length": "shared_expert_intermediate_size",
}
_STEERING = ("exp_probs_b.bias", "exp_probs_b")
_AT_ONCE, _IN_PARTS = "attn_kv_b.weight", ("attn_k_b.weight", "attn_v_b.weight")  # of latent attention
_SHARED = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")  # constants, not weights


def document(path: Path, shown: str) -> Document:
    header = gguf.read(path)
    kept = f"in the file: {by_format(header.tensors)}"
    architecture = str(header.facts.get("general.architecture", ""))
    weights = sum(stored.elements for stored in _counted(header).values())
    found = _as_spec(header, architecture, shown)
    model = from_document(found, "model") if found else None
    if found and model and int(model.params().total) == weights:
        found.notes = (kept, *found.notes)
        found.weights = file_weights(model.build(), _weights(header))
        return found
    why = f"the tensors of the file, an architecture ({architecture or 'unnamed'}) that is not read as a spec"
    return of_tensors(header.tensors, shown, why)


def _weights(header: gguf.Header) -> dict[str, Stored]:
    return {name: stored for name, stored in header.tensors.items() if name not in _SHARED}


def _counted(header: gguf.Header) -> dict[str, Stored]:
    """Those that are parameters: neither what steers a router, nor projections that are kept a second time."""
    found = _weights(header)
    twice = any(name.endswith(_AT_ONCE) for name in found)
    left_out = (*_STEERING, *(_IN_PARTS if twice else ()))
    return {name: stored for name, stored in found.items() if not name.endswith(left_out)}


def _as_spec(header: gguf.Header, architecture: str, shown: str) -> Document | None:
    try:
        return imported.document(_config(header, architecture), shown) if architecture in _TYPES else None
    except InputError:
        return None


def _config(header: gguf.Header, architecture: str) -> Fields:
    """The config.json that the facts stand for; what tensors tell (a tied head, biases) is read from them."""
    facts = {
        name: header.facts[f"{architecture}.{fact}"]
        for fact, name in _NAMES.items()
        if f"{architecture}.{fact}" in header.facts
    }
    model_type = _TYPES[architecture]
    if facts.get("num_experts") and model_type == "llama":
        model_type, facts["num_local_experts"] = "mixtral", facts.pop("num_experts")
    more: Fields = {}
    if architecture == "deepseek2":
        model_type, more = _latent(header, facts.pop("num_experts", None), facts.get("num_attention_heads"))
    table = header.tensors.get("token_embd.weight")
    biased = "blk.0.attn_q.bias" in header.tensors
    return {
        **{name: value for name, value in facts.items() if value},
        **more,
        **({"attention_bias": True} if biased and model_type in ("llama", "qwen3") else {}),
        "vocab_size": table.shape[0] if table else None,
        "tie_word_embeddings": "output.weight" not in header.tensors,
        "torch_dtype": "float16",  # llama.cpp's own choice for the cache
        "model_type": model_type,
        "architectures": None,
    }


def _latent(header: gguf.Header, experts: int | None, heads: int | None) -> tuple[str, Fields]:
    """DeepSeek V2, V3 and those built like them: widths of latent attention, dense layers first, shared experts."""
    said = {name.removeprefix("deepseek2."): value for name, value in header.facts.items()}
    rope = _whole(said.get("rope.dimension_count", 0))
    key = _whole(said.get("attention.key_length_mla", said.get("attention.key_length", 0)))
    steered = any(name.endswith(_STEERING) for name in header.tensors)
    return "deepseek_v3" if steered else "deepseek_v2", {
        "n_routed_experts": experts,
        "n_shared_experts": said.get("expert_shared_count"),
        "first_k_dense_replace": said.get("leading_dense_block_count", 0),
        "q_lora_rank": said.get("attention.q_lora_rank"),
        "kv_lora_rank": said.get("attention.kv_lora_rank"),
        "qk_rope_head_dim": rope,
        "qk_nope_head_dim": key - rope,
        "v_head_dim": said.get("attention.value_length_mla", said.get("attention.value_length")),
        "num_key_value_heads": heads,
        "head_dim": rope,  # as transformers has it: of the rotated part
    }


def _whole(value: Any) -> int:
    """A size; anything else is no header that llama.cpp writes."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("a size is not a whole number")
    return value
