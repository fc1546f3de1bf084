"""params.json, as Meta and Mistral publish it beside their own checkpoints: the config.json that it stands for.

Meta's feed-forward width follows from three fields (`FeedForward` in llama/model.py), Mistral's is given. Both have a
head of their own unless a file says that it is tied. An unknown field may change the model, so it is refused.
"""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError

Said = dict[str, Any]

_BOTH = {  # their name and the config's
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "vocab_size": "vocab_size",
    "norm_eps": "rms_norm_eps",
    "rope_theta": "rope_theta",
    "max_seq_len": "max_position_embeddings",
    "max_position_embeddings": "max_position_embeddings",
}
_META = {"multiple_of", "ffn_dim_multiplier", "use_scaled_rope", "max_batch_size"}
_MISTRAL = {"hidden_dim": "intermediate_size", "head_dim": "head_dim", "sliding_window": "sliding_window"}
_MISTRAL_OTHERS = {"tied_embeddings", "moe", "quantization", "yarn", "llama_4_scaling", "causal", "use_biases"}
_SIZES = ("dim", "n_layers", "n_heads", "n_kv_heads", "hidden_dim", "head_dim", "multiple_of")
_USUAL = {"causal": True, "use_biases": False}
_LONGEST = 131_072  # rotary positions end nowhere by themselves
NOTES = (
    "params.json names no precision: bf16, in which such checkpoints are published",
    "params.json says how long a sequence may be only where it has max_seq_len",
)


def is_params(said: Said) -> bool:
    return {"dim", "n_layers", "n_heads", "vocab_size"} <= said.keys() and "model_type" not in said


def config(said: Said) -> Said:
    """As transformers' own scripts convert it."""
    mistral = "hidden_dim" in said
    known = {*_BOTH, *(_MISTRAL | dict.fromkeys(_MISTRAL_OTHERS) if mistral else _META)}
    _check(said, known)
    fields = {name: said[key] for key, name in _BOTH.items() if said.get(key) is not None}
    fields.setdefault("num_key_value_heads", fields.get("num_attention_heads"))
    fields.setdefault("max_position_embeddings", _LONGEST)
    more = _of_mistral(said) if mistral else _of_meta(said)
    return {"torch_dtype": "bfloat16", "tie_word_embeddings": False, **fields, **more}


def _check(said: Said, known: set[str]) -> None:
    for key, value in said.items():
        if value is not None and (key not in known or _USUAL.get(key, value) != value):
            hint = "give the config.json that transformers reads, which many repositories hold as well"
            raise InputError("archcalc does not read this field of params.json", hint, fields=[(key,)])
    for key in _SIZES:
        if key in said and not (isinstance(said[key], int) and not isinstance(said[key], bool) and said[key] > 0):
            raise InputError(f"expected a whole number above 0, found {said[key]!r:.60}", fields=[(key,)])
    if not isinstance(said["vocab_size"], int) or said["vocab_size"] < 1:
        hint = "write the tokenizer's size into the file: 32000 for Llama 1 and 2"
        raise InputError("the vocabulary's size is left to the tokenizer", hint, fields=[("vocab_size",)])


def _of_meta(said: Said) -> Said:
    width, step = int(2 * (4 * said["dim"]) / 3), said.get("multiple_of", 256)
    factor = said.get("ffn_dim_multiplier")
    if factor is not None:
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < 1000:
            fact = f"expected a number between 0 and 1,000, found {factor!r:.60}"
            raise InputError(fact, fields=[("ffn_dim_multiplier",)])
        width = int(factor * width)
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "intermediate_size": -(-width // step) * step}


def _of_mistral(said: Said) -> Said:
    fields = {name: said[key] for key, name in _MISTRAL.items() if key in said}
    fields |= {"tie_word_embeddings": bool(said.get("tied_embeddings"))}
    if stored := said.get("quantization"):  # fp8 with a scale of each matrix and of what enters it
        known = isinstance(stored, dict) and stored.get("qformat_weight") == "fp8_e4m3"
        if not known or stored.get("qscheme_act") != "TENSOR":
            raise InputError("archcalc does not read this quantisation", "give config.json", fields=[("quantization",)])
        fields["quantization_config"] = {"quant_method": "fp8", "activation_scheme": "static"}
    if not said.get("moe"):
        return {"model_type": "mistral", "architectures": ["MistralForCausalLM"], **fields}
    mixture = said["moe"]
    if not isinstance(mixture, dict) or set(mixture) != {"num_experts", "num_experts_per_tok"}:
        raise InputError("archcalc does not read this mixture of experts", "give config.json", fields=[("moe",)])
    fields |= {"num_local_experts": mixture["num_experts"], "num_experts_per_tok": mixture["num_experts_per_tok"]}
    return {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], **fields}
