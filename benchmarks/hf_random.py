"""Random configs of any model type: other sizes, switches and layer patterns than the default, as real files have them.

Fields are drawn by their names, so that a new type needs nothing here; what no class accepts is thrown away by whoever
builds it. A file is written in three ways: full, as a diff from the defaults, and sparse, only what was chosen.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Iterator
from typing import Any

from transformers import CONFIG_MAPPING

Fields = dict[str, Any]

_WIDTH = ("hidden_size", "d_model", "n_embd", "dim")
_HEADS = ("num_attention_heads", "n_head", "n_heads", "encoder_attention_heads", "decoder_attention_heads", "num_heads")
_KV = ("num_key_value_heads", "num_kv_heads")
_LAYERS = (
    "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers",
)  # fmt: skip
_INNER = (
    "intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner", "d_ff", "hidden_dim",
    "moe_intermediate_size", "shared_expert_intermediate_size", "intermediate_size_mlp", "ffn_hidden_size",
    "moe_shared_expert_intermediate_size",
)  # fmt: skip
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
_LENGTHS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "max_source_positions", "max_target_positions",
)  # fmt: skip
_OFTEN_LEFT = 0.3  # how often a field is left at its default


def random_fields(model_type: str, rng: random.Random) -> Fields:
    """Some of the class's fields, changed; all that a small model needs, since the defaults are billions."""
    config = CONFIG_MAPPING[model_type]
    defaults = {field.name: field.default for field in dataclasses.fields(config)}
    heads = rng.choice([2, 3, 4, 6, 8])
    each = rng.choice([4, 8, 16, 32])
    drawn: Fields = {}
    for name, default in defaults.items():
        value = _drawn(name, default, heads, each, rng)
        if value is not None:
            drawn[name] = value
    if drawn.get("add_cross_attention") and "is_decoder" in defaults:
        drawn["is_decoder"] = True
    drawn.update(_SPECIAL.get(model_type, lambda *_: {})(drawn, rng))
    return drawn


def _drawn(name: str, default: Any, heads: int, each: int, rng: random.Random) -> Any:
    if name in _WIDTH:
        return heads * each
    if name in _HEADS:
        return heads
    if name in _KV:
        return rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if name in _LAYERS:
        return rng.randint(1, 7)
    if name in _INNER:
        return rng.randint(8, 200)
    if name in _EXPERTS:
        return rng.randint(2, 9)
    if name in _LENGTHS:
        return rng.randint(8, 130)
    if name == "vocab_size":
        return rng.randint(40, 600)
    if name == "pad_token_id":
        return 0
    if rng.random() < _OFTEN_LEFT:
        return None
    return _switched(name, default, each, rng)


def _switched(name: str, default: Any, each: int, rng: random.Random) -> Any:
    choices: dict[str, Any] = {
        "head_dim": [each, 2 * each, 12],
        "d_kv": [each, 2 * each, 12],
        "num_experts_per_tok": [1, 2],
        "sliding_window": [4, 16, 64],
        "window_size": [4, 16],
        "type_vocab_size": [1, 2, 5],
        "decoder_sparse_step": [1, 2, 3],
        "first_k_dense_replace": [0, 1, 2, 9],
        "n_shared_experts": [0, 1, 2],
        "feed_forward_proj": ["relu", "gated-gelu", "gated-silu", "gelu"],
        "embedding_size": [8, 32, 48],
        "word_embed_proj_dim": [8, 48],
        "image_size": [32, 64],
        "patch_size": [8, 16],
        "num_channels": [1, 3],
        "mlp_ratio": [2, 4],
        "num_mel_bins": [20, 80],
        "decoder_vocab_size": [50, 99],
        "pooler_output_size": [8, 24],
        "relative_attention_num_buckets": [8, 32],
        "attention_window_size": [4, 16],
        "sliding_window_pattern": [2, 3],
        "no_rope_layer_interval": [2, 3],
        "conv1d_width": [3, 4],
        "local_attention": [8, 16],
        "rotary_dim": [2, 4],
        "num_ln_in_parallel_attn": [1, 2],
        "moe_layer_freq": [1, 2],
        "max_window_layers": [1, 3],
        "local_global": [2, 3],
    }
    if name in choices:
        return rng.choice(choices[name])
    return rng.random() < 0.5 if isinstance(default, bool) and name not in ("is_encoder_decoder",) else None


def _neo(drawn: Fields, rng: random.Random) -> Fields:
    half = rng.randint(1, 3)
    return {"num_layers": 2 * half, "attention_types": [[["global", "local"], half]]}


def _layers(*kinds: str) -> Any:
    def choose(drawn: Fields, rng: random.Random) -> Fields:
        if rng.random() < 0.5:
            return {}
        return {"layer_types": [rng.choice(kinds) for _ in range(drawn["num_hidden_layers"])]}

    return choose


def _mlp_only(drawn: Fields, rng: random.Random) -> Fields:
    return {"mlp_only_layers": [0, 2]} if rng.random() < 0.4 else {}


def _llama4(drawn: Fields, rng: random.Random) -> Fields:
    blocks = range(drawn["num_hidden_layers"])
    chosen: Fields = {"interleave_moe_layer_step": rng.choice([1, 2])}
    if rng.random() < 0.3:
        chosen["moe_layers"] = [block for block in blocks if rng.random() < 0.5]
    if rng.random() < 0.3:
        chosen["no_rope_layers"] = [rng.randint(0, 1) for _ in blocks]
    return chosen


def _mla(drawn: Fields, rng: random.Random) -> Fields:
    return {
        "kv_lora_rank": rng.choice([8, 24]),
        "q_lora_rank": rng.choice([None, 8, 20]),
        "qk_nope_head_dim": rng.choice([8, 12]),
        "qk_rope_head_dim": rng.choice([4, 8]),
        "v_head_dim": rng.choice([8, 12]),
        "n_group": 1,
        "topk_group": 1,
    }


def _delta(drawn: Fields, rng: random.Random) -> Fields:
    heads = rng.choice([1, 2, 4])
    return {
        "linear_num_key_heads": heads,
        "linear_num_value_heads": heads * rng.choice([1, 2]),
        "linear_key_head_dim": rng.choice([4, 8]),
        "linear_value_head_dim": rng.choice([4, 8]),
        "linear_conv_kernel_dim": rng.choice([3, 4]),
        **_layers("linear_attention", "full_attention")(drawn, rng),
        **_mlp_only(drawn, rng),
    }


def _ssm(drawn: Fields, rng: random.Random) -> Fields:
    chosen: Fields = {"state_size": rng.choice([4, 16]), "expand": rng.choice([1, 2, 3])}
    chosen["conv_kernel"] = rng.choice([3, 4])
    if rng.random() < 0.4:
        chosen["time_step_rank"] = rng.choice([3, 7])
    if rng.random() < 0.2:
        chosen["intermediate_size"] = rng.choice([24, 40])
    return chosen


def _ssm2(drawn: Fields, rng: random.Random) -> Fields:
    expand, heads, each = rng.choice([1, 2]), rng.choice([2, 4]), rng.choice([4, 8])
    wide = heads * each * 2
    return {
        "hidden_size": wide,
        "expand": expand,
        "num_heads": 2 * heads,
        "head_dim": each * expand,
        "state_size": rng.choice([4, 16]),
        "n_groups": rng.choice([1, 2]),
        "conv_kernel": rng.choice([3, 4]),
    }


def _jamba(drawn: Fields, rng: random.Random) -> Fields:
    period, sparse = rng.choice([2, 3]), rng.choice([1, 2])
    return {
        "attn_layer_period": period,
        "attn_layer_offset": rng.randrange(period),
        "expert_layer_period": sparse,
        "expert_layer_offset": rng.randrange(sparse),
        "mamba_d_state": rng.choice([4, 16]),
        "mamba_expand": rng.choice([1, 2]),
        "num_experts": rng.choice([1, 2, 4]),
    }


def _bamba(drawn: Fields, rng: random.Random) -> Fields:
    blocks = range(drawn["num_hidden_layers"])
    return {
        "attn_layer_indices": rng.choice([None, [block for block in blocks if rng.random() < 0.5]]),
        "mamba_n_heads": drawn["num_attention_heads"],
        "mamba_expand": rng.choice([1, 2]),
        "mamba_n_groups": 1,
        "mamba_d_state": rng.choice([8, 16]),
    }


def _rglru(drawn: Fields, rng: random.Random) -> Fields:
    chosen = {"block_types": rng.choice([["recurrent", "attention"], ["recurrent", "recurrent", "attention"]])}
    return {**chosen, **({"lru_width": 2 * drawn["hidden_size"]} if rng.random() < 0.4 else {})}


def _nemotron(drawn: Fields, rng: random.Random) -> Fields:
    kinds = ["mamba", "moe", "attention", "mlp"]
    kinds = rng.choice([kinds, ["linear_attention", "moe", "full_attention", "mlp"]])
    return {
        "layers_block_type": [rng.choice(kinds) for _ in range(rng.randint(1, 8))],
        "mamba_num_heads": 4,
        "mamba_head_dim": rng.choice([4, 8]),
        "n_groups": rng.choice([1, 2]),
        "ssm_state_size": rng.choice([8, 16]),
        "moe_latent_size": rng.choice([None, 12]),
    }


def _deberta(drawn: Fields, rng: random.Random) -> Fields:
    chosen = {
        "relative_attention": rng.random() < 0.7,
        "pos_att_type": rng.choice([None, ["c2p"], ["p2c", "c2p"], "p2c|c2p"]),
        "share_att_key": rng.random() < 0.5,
        "position_buckets": rng.choice([-1, 16]),
        "max_relative_positions": rng.choice([-1, 24]),
        "conv_kernel_size": rng.choice([0, 3]),
        "norm_rel_ebd": rng.choice(["none", "layer_norm"]),
        "embedding_size": rng.choice([8, drawn["hidden_size"]]),
        "type_vocab_size": rng.choice([0, 2]),
    }
    return {name: value for name, value in chosen.items() if rng.random() < 0.7}


def _albert(drawn: Fields, rng: random.Random) -> Fields:
    groups, layers = rng.choice([1, 2]), rng.randint(1, 3)
    return {"num_hidden_groups": groups, "num_hidden_layers": groups * layers, "inner_group_num": rng.choice([1, 2])}


def _beit(drawn: Fields, rng: random.Random) -> Fields:
    return {"layer_scale_init_value": rng.choice([0.1, 0.0]), "add_fpn": False}


_LOCAL = _layers("sliding_attention", "full_attention")
_SPECIAL: dict[str, Any] = {
    "gpt_neo": _neo,
    **dict.fromkeys(("qwen2", "qwen3", "gemma2", "gemma3_text", "olmo3", "cohere2", "exaone4"), _LOCAL),
    **dict.fromkeys(("gpt_oss", "smollm3", "modernbert"), _LOCAL),
    "qwen2_moe": _mlp_only,
    "qwen3_moe": _mlp_only,
    "qwen3_next": _delta,
    "llama4_text": _llama4,
    "deepseek_v2": _mla,
    "deepseek_v3": _mla,
    "mamba": _ssm,
    "falcon_mamba": _ssm,
    "mamba2": _ssm2,
    "jamba": _jamba,
    "bamba": _bamba,
    "recurrent_gemma": _rglru,
    "nemotron_h": _nemotron,
    "deberta-v2": _deberta,
    "albert": _albert,
    "beit": _beit,
}


def _renamed(chosen: Fields, model_type: str, rng: random.Random) -> Fields:
    """Some fields under the other name that their class knows them by."""
    other = {real: alias for alias, real in CONFIG_MAPPING[model_type].attribute_map.items() if rng.random() < 0.2}
    return {other.get(name, name): value for name, value in chosen.items()}


def _foreign(rng: random.Random) -> Fields:
    """Fields of other types, which most classes do not declare, and some read all the same."""
    known: Fields = {
        "num_key_value_heads": rng.choice([1, 2]),
        "intermediate_size": 24,
        "attention_bias": True,
        "mlp_bias": True,
        "qkv_bias": False,
        "use_qk_norm": True,
        "qk_layernorm": True,
        "sliding_window": 8,
        "num_experts": 3,
        "tie_word_embeddings": True,
        "partial_rotary_factor": 0.5,
        "rope_theta": 5000.0,
        "rope_scaling": {"type": "linear", "factor": 2.0},
        "type_vocab_size": 3,
        "embedding_size": 8,
        "layer_norm_elementwise_affine": False,
        "attention_out_bias": True,
        "use_bias": True,
        "num_labels": 4,
        "add_cross_attention": False,
        "layer_scale_init_value": 0.1,
        "torch_dtype": "bfloat16",
        "classifier_bias": True,
        "hidden_size_per_layer_input": 8,
    }
    return {key: known[key] for key in rng.sample(sorted(known), 2)}


def files(model_type: str, rng: random.Random, classes: dict[str, str]) -> Iterator[Fields]:
    """The same random model as a sparse, a full and a diff config.json."""
    chosen = random_fields(model_type, rng)
    named = {"model_type": model_type, "architectures": [rng.choice(sorted(classes))]}
    if "head_dim" not in chosen and rng.random() < 0.15:
        chosen["head_dim"] = rng.choice([8, 16, 20])
    if rng.random() < 0.3:
        chosen["id2label"] = {str(number): f"label {number}" for number in range(rng.choice([1, 2, 5]))}
    if rng.random() < 0.3:
        chosen |= {key: value for key, value in _foreign(rng).items() if key not in chosen}
    sparse = {**_renamed(chosen, model_type, rng), **named}
    yield sparse
    try:
        config = CONFIG_MAPPING[model_type].from_dict(json.loads(json.dumps(sparse)))
        written = [json.loads(config.to_json_string(use_diff=diff)) for diff in (False, True)]
    except Exception:  # the class refuses it, which whoever builds the sparse one finds out too
        return
    for said in written:
        yield {**said, **named}
