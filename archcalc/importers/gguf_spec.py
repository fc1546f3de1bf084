"""A GGUF file to a spec: its facts are translated to those of a config.json, and read by the same translators.

What comes out is believed only if it counts the same as the tensors of the file do; else the tensors themselves are the
answer, as they are for an architecture that archcalc does not know.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from archcalc.document import Document
from archcalc.errors import InputError
from archcalc.importers import gguf
from archcalc.importers.files import by_format, of_tensors
from archcalc.importers.hf import imported
from archcalc.model import from_document

Fields = dict[str, Any]

_TYPES = {  # an architecture of llama.cpp, and the model type that is built the same
    "gemma3": "gemma3_text",
    "qwen2moe": "qwen2_moe",
    "qwen3moe": "qwen3_moe",
    "gpt-oss": "gpt_oss",
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
_SHARED = ("rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight")  # constants, not weights


def document(path: Path, shown: str) -> Document:
    header = gguf.read(path)
    kept = f"in the file: {by_format(header.tensors)}"
    architecture = str(header.facts.get("general.architecture", ""))
    weights = sum(stored.elements for name, stored in header.tensors.items() if name not in _SHARED)
    found = _as_spec(header, architecture, shown)
    if found is not None and int(from_document(found, "model").params().total) == weights:
        found.notes = (kept, *found.notes)
        return found
    why = f"the tensors of the file, an architecture ({architecture or 'unnamed'}) that is not read as a spec"
    return of_tensors(header.tensors, shown, why)


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
    table = header.tensors.get("token_embd.weight")
    biased = "blk.0.attn_q.bias" in header.tensors
    return {
        **{name: value for name, value in facts.items() if value},
        **({"attention_bias": True} if biased and model_type in ("llama", "qwen3") else {}),
        "vocab_size": table.shape[0] if table else None,
        "tie_word_embeddings": "output.weight" not in header.tensors,
        "model_type": model_type,
        "architectures": None,
    }
