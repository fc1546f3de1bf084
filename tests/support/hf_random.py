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

from archcalc.spec.model_types import described
from support.hf_random_audio import AUDIO
from support.hf_random_gemma import GEMMA
from support.hf_random_nets import NETS

Fields = dict[str, Any]

_WIDTH = ("hidden_size", "d_model", "n_embd", "dim", "emb_dim")
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
    "max_encoder_position_embeddings", "max_decoder_position_embeddings",
)  # fmt: skip
_ACTS = ("hidden_act", "activation_function", "activation", "hidden_activation", "mlp_hidden_act", "dense_act_fn")
_SCALED: tuple[Fields, ...] = (
    {"rope_type": "default"},
    {"rope_type": "linear", "factor": 2.0},
    {"rope_type": "dynamic", "factor": 2.0},
    {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16},
    {"rope_type": "yarn", "factor": 2.0, "beta_fast": 16.0, "beta_slow": 1.0, "original_max_position_embeddings": 8},
    {"rope_type": "default", "partial_rotary_factor": 0.5},
)  # fmt: skip
_OFTEN_LEFT = 0.3  # how often a field is left at its default


def random_fields(model_type: str, rng: random.Random) -> Fields:
    """Some of the class's fields, changed; all that a small model needs, since the defaults are billions."""
    defaults = described(model_type)["defaults"]
    if model_type in CONFIG_MAPPING:
        defaults = {field.name: field.default for field in dataclasses.fields(CONFIG_MAPPING[model_type])}
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
    if "mlp_layer_types" in defaults and rng.random() < 0.4:
        drawn["mlp_layer_types"] = [rng.choice(["dense", "sparse"]) for _ in range(drawn["num_hidden_layers"])]
    return drawn


def _drawn(name: str, default: Any, heads: int, each: int, rng: random.Random) -> Any:
    if name in _WIDTH:
        return heads * each
    if name in _HEADS:
        return heads
    if name in _KV:
        return rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
    if name in _LAYERS and (default is not None or rng.random() > _OFTEN_LEFT):
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
    if name in _ACTS:
        return rng.choice(["silu", "gelu", "relu", "gelu_new", "mish", "relu2"]) if rng.random() < 0.3 else None
    if name == "rope_parameters" and rng.random() < 0.3:
        return {"rope_theta": rng.choice([500.0, 1e6]), **rng.choice(_SCALED)}
    choices: dict[str, Any] = {
        "head_dim": [each, 2 * each, 12],
        "d_kv": [each, 2 * each, 12],
        "num_experts_per_tok": [1, 2],
        "attn_logit_softcapping": [20.0],
        "final_logit_softcapping": [20.0],
        "mamba_d_conv": [2, 4],
        "mamba_dt_rank": [3, "auto"],
        "chunk_size": [16, 64],
        "mamba_chunk_size": [16, 64],
        "num_mtp_layers": [0, 1],
        "num_nextn_predict_layers": [0, 1],
        "norm_type": ["low_precision_layernorm"],
        "logit_scale": [0.5],
        "query_pre_attn_scalar": [64],
        "routed_scaling_factor": [1.5],
        "expansion_ratio": [2, 4],
        "relative_attention_max_distance": [64],
        "sliding_window": [4, 16, 64],
        "window_size": [4, 16],
        "block_size": [4, 16],
        "attention_window": [4, 16],
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
        "encoder_stride": [4, 16],
        "num_register_tokens": [0, 4],
        "n_cls_tokens": [1, 3],
        "projection_dim": [8, 24],
        "projection_size": [8, 24],
        "num_patches": [4, 16, 25],
        "input_embedding_size": [8, 24],
        "output_embedding_size": [8, 24, 40],
        "n_langs": [1, 3],
        "num_sparse_encoder_layers": [0, 1, 2],
        "num_sparse_decoder_layers": [0, 1, 2],
        "encoder_sparse_step": [0, 1, 2],
        "src_vocab_size": [50, 99],
        "tgt_vocab_size": [50, 99],
        "max_2d_position_embeddings": [16, 40],
        "pronunciation_embed_dim": [6, 10],
        "pronunciation_vocab_size": [30, 60],
        "shape_embed_dim": [6, 12],
        "shape_vocab_size": [20, 70],
        "attention_type": ["original_full", "block_sparse"],
        "position_embedding_type": ["absolute", "rotary"],
        "classifier_proj_size": [8, 24],
        "task_type_vocab_size": [2, 4],
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


def _llama4_whole(drawn: Fields, rng: random.Random) -> Fields:
    """With a tower that can be run, which the default one of the class cannot."""
    out, heads = rng.choice([24, 40]), rng.choice([2, 4])
    sizes = {"hidden_size": 16 * heads, "num_attention_heads": heads, "intermediate_size": 64 * heads}
    own = {"vision_output_dim": out, "projector_input_dim": rng.choice([24, 56]), "projector_output_dim": out}
    image = {"image_size": 32, "patch_size": 8, "num_hidden_layers": rng.randint(1, 3)}
    return {"vision_config": {"model_type": "llama4_vision_model", **sizes, **own, **image}}


def _llama4(drawn: Fields, rng: random.Random) -> Fields:
    blocks = range(drawn["num_hidden_layers"])
    chosen: Fields = {"interleave_moe_layer_step": rng.choice([1, 2])}
    if rng.random() < 0.3:
        chosen["moe_layers"] = [block for block in blocks if rng.random() < 0.5]
    if rng.random() < 0.3:
        chosen["no_rope_layers"] = [rng.randint(0, 1) for _ in blocks]
    return chosen


def _thetas(drawn: Fields, rng: random.Random) -> Fields:
    bases = [rng.choice([0, 10_000.0, 50_000.0]) for _ in range(drawn["num_hidden_layers"])]
    return {**_LOCAL(drawn, rng), **({"layer_rope_theta": bases} if rng.random() < 0.4 else {})}


def _laguna(drawn: Fields, rng: random.Random) -> Fields:
    heads = [drawn["num_key_value_heads"] * rng.choice([1, 2]) for _ in range(drawn["num_hidden_layers"])]
    chosen: Fields = {
        "gating": rng.choice([True, "per-head", "per-element"]),
        "moe_apply_router_weight_on_input": False,
    }
    return {**_LOCAL(drawn, rng), **chosen, **({"num_attention_heads_per_layer": heads} if rng.random() < 0.5 else {})}


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


def _indexed(drawn: Fields, rng: random.Random) -> Fields:
    chosen: Fields = {"index_topk": 8, "index_head_dim": rng.choice([8, 16]), "index_n_heads": rng.choice([1, 3])}
    if rng.random() < 0.4:
        chosen |= {"indexer_types": [rng.choice(["full", "shared"]) for _ in range(drawn["num_hidden_layers"])]}
    return {**_mla(drawn, rng), "q_lora_rank": rng.choice([8, 20]), **chosen}


def _dbrx(drawn: Fields, rng: random.Random) -> Fields:
    groups = rng.choice([number for number in range(1, drawn["n_heads"] + 1) if drawn["n_heads"] % number == 0])
    attention = {"rope_theta": 50_000.0, "kv_n_heads": groups, "clip_qkv": 8}
    experts = {
        "moe_num_experts": rng.randint(1, 6),
        "moe_top_k": rng.randint(1, 2),
        "ffn_hidden_size": rng.randint(8, 99),
    }
    return {"attn_config": attention, "ffn_config": experts, "tie_word_embeddings": False}


def _conv(drawn: Fields, rng: random.Random) -> Fields:
    chosen: Fields = {"conv_L_cache": rng.choice([3, 4]), "block_multiple_of": 16}
    if rng.random() < 0.5:
        return {**chosen, "full_attn_idxs": [0, 2], "tie_embedding": rng.random() < 0.5}
    return {**chosen, **_layers("conv", "full_attention")(drawn, rng), "block_ff_dim": 90}


def _halved(drawn: Fields, rng: random.Random) -> Fields:
    """Local blocks have twice as many key-value heads, so that the others have half of them at most."""
    heads = rng.choice([2, 4])
    sizes = {"num_attention_heads": 2 * heads, "num_key_value_heads": rng.choice([1, heads]), "head_dim": 12}
    return {**_LOCAL(drawn, rng), **sizes, "v_head_dim": rng.choice([8, 12])}


def _delta(drawn: Fields, rng: random.Random) -> Fields:
    heads = rng.choice([1, 2, 4])
    return {
        "linear_num_key_heads": heads,
        "linear_num_value_heads": heads * rng.choice([1, 2]),
        "linear_key_head_dim": rng.choice([4, 8]),
        "linear_value_head_dim": rng.choice([4, 8]),
        "linear_conv_kernel_dim": rng.choice([3, 4]),
        **_layers("linear_attention", "full_attention")(drawn, rng),
        **(_mlp_only(drawn, rng) if "decoder_sparse_step" in drawn else {}),
    }


def _granite_hybrid(drawn: Fields, rng: random.Random) -> Fields:
    chosen = {**_bamba(drawn, rng), **_layers("mamba", "attention")(drawn, rng)}
    chosen |= {"num_local_experts": rng.choice([0, 3, 8]), "position_embedding_type": rng.choice([None, "rope"])}
    return {**chosen, "shared_intermediate_size": rng.randint(8, 90)}


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


def _falcon_h1(drawn: Fields, rng: random.Random) -> Fields:
    groups = rng.choice([1, 2])
    heads, each = groups * rng.choice([1, 2, 3]), rng.choice([4, 6])
    widths: Fields = {"mamba_d_ssm": heads * each, "mamba_d_head": rng.choice(["auto", each])}
    if rng.random() < 0.3:
        widths = {"mamba_d_ssm": None, "mamba_expand": rng.choice([1, 2]) * heads}
    return {**widths, "mamba_n_heads": heads, "mamba_n_groups": groups, "mamba_d_state": rng.choice([8, 16])}


def _kimi(drawn: Fields, rng: random.Random) -> Fields:
    blocks = range(1, drawn["num_hidden_layers"] + 1)
    sizes = {"linear_head_dim": rng.choice([4, 6]), "linear_num_heads": rng.choice([2, 3]), "linear_conv_kernel_dim": 3}
    chosen = {**_mla(drawn, rng), **sizes, "n_shared_experts": rng.choice([1, 2])}
    if rng.random() < 0.5:
        return {**chosen, **_layers("linear_attention", "full_attention")(drawn, rng)}
    full = [block for block in blocks if rng.random() < 0.3]
    named = {"full_attn_layers": full, "kda_layers": [block for block in blocks if block not in full]}
    said = {"head_dim": 8, "num_heads": 2, "short_conv_kernel_size": 4, **named}
    return {**chosen, "linear_attn_config": said, "first_k_dense_replace": rng.choice([0, 1, 3])}


def _bailing(drawn: Fields, rng: random.Random) -> Fields:
    sizes = {"head_dim": rng.choice([4, 6]), "short_conv_kernel_size": 3, "layer_group_size": rng.choice([2, 3])}
    chosen = {**_mla(drawn, rng), **sizes, **_layers("linear_attention", "full_attention")(drawn, rng)}
    del chosen["q_lora_rank"]
    return {**chosen, "n_shared_experts": rng.choice([1, 2])}


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


def _pair(*kinds: tuple[str, ...]) -> Any:
    """An encoder and a decoder, each of a type of its own, mostly of one width."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        one, other = (rng.choice(several) for several in kinds)
        first, second = random_fields(one, rng), random_fields(other, rng)
        first |= {"is_decoder": False, "add_cross_attention": False}
        second |= {key: first["hidden_size"] for key in _WIDTH if key in second}
        second |= {key: first["num_attention_heads"] for key in _HEADS if key in second}
        second |= {"is_decoder": True, "add_cross_attention": True}
        return {"encoder": {**first, "model_type": one}, "decoder": {**second, "model_type": other}}

    return choose


def _gemmas(drawn: Fields, rng: random.Random) -> Fields:
    """Two halves of one kind, each with sizes of its own."""
    halves = {}
    for name in ("encoder", "decoder"):
        fields = random_fields("t5_gemma_module", rng)
        halves[name] = {**fields, **_LOCAL(fields, rng), "model_type": "t5_gemma_module"}
    return {**halves, "is_encoder_decoder": rng.random() < 0.7}


def _windows(blocks: str) -> Any:
    """One window for all blocks, or one for each."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        each = [rng.choice([4, 8]) for _ in range(drawn[blocks])]
        return {"attention_window": each} if rng.random() < 0.4 else {}

    return choose


def _beit(drawn: Fields, rng: random.Random) -> Fields:
    return {"layer_scale_init_value": rng.choice([0.1, 0.0]), "add_fpn": False}


_LOCAL = _layers("sliding_attention", "full_attention")


def _nested(**parts: str) -> Any:
    """Each part's own fields, under the keys that the whole has for them."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        return {key: {**random_fields(kind, rng), "model_type": kind} for key, kind in parts.items()}

    return choose


def _one_width(text: str, vision: str) -> Any:
    """Texts are projected to what the image's pooling gives."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        made: dict[str, Fields] = _nested(text_config=text, vision_config=vision)(drawn, rng)
        made["vision_config"]["vision_use_head"] = True
        made["text_config"]["projection_size"] = made["vision_config"]["hidden_size"]
        return made

    return choose


def _heard(text: str, audio: str, length: str = "max_source_positions") -> Any:
    """Several positions side by side are as wide as the tower's FFN; text and audio fit into one sequence."""

    def choose(drawn: Fields, rng: random.Random) -> Fields:
        made: dict[str, Fields] = _nested(text_config=text, audio_config=audio)(drawn, rng)
        if width := made["audio_config"].get("hidden_size"):
            made["audio_config"]["intermediate_size"] = rng.choice([2, 4]) * width
        made["audio_config"][length] = rng.choice([16, 40])
        made["text_config"]["max_position_embeddings"] = 200
        return made

    return choose


def _searched(drawn: Fields, rng: random.Random) -> Fields:
    """Blocks as a search leaves them, some without attention or without an FFN."""
    blocks = []
    for _ in range(drawn["num_hidden_layers"]):
        attention = {"n_heads_in_group": 1} if rng.random() > _OFTEN_LEFT else {"no_op": True}
        ffn = {"ffn_mult": rng.choice([0.5, 2.625])} if rng.random() > _OFTEN_LEFT else {"no_op": True}
        blocks.append({"attention": attention, "ffn": ffn})
    return {"block_configs": [*blocks[:-1], {"attention": {"n_heads_in_group": 1}, "ffn": {"ffn_mult": 1.0}}]}


_SPECIAL: dict[str, Any] = {
    "clip": _nested(text_config="clip_text_model", vision_config="clip_vision_model"),
    "chinese_clip": _nested(text_config="chinese_clip_text_model", vision_config="chinese_clip_vision_model"),
    "qwen2_audio": _heard("qwen2", "qwen2_audio_encoder"),
    "audioflamingo3": _heard("qwen2", "audioflamingo3_encoder"),
    "voxtral": _heard("llama", "voxtral_encoder"),
    "glmasr": _heard("llama", "glmasr_encoder", "max_position_embeddings"),
    "siglip": _one_width("siglip_text_model", "siglip_vision_model"),
    "siglip2": _one_width("siglip2_text_model", "siglip2_vision_model"),
    **NETS,
    **AUDIO,
    **GEMMA,
    "nemotron-nas": _searched,
    "gpt_neo": _neo,
    **dict.fromkeys(("qwen2", "qwen3", "gemma2", "gemma3_text", "olmo3", "cohere2", "exaone4"), _LOCAL),
    **dict.fromkeys(("gpt_oss", "smollm3", "modernbert"), _LOCAL),
    **dict.fromkeys(("dots1", "exaone_moe", "kolibri1", "mellum", "vaultgemma", "ministral", "cwm"), _LOCAL),
    **dict.fromkeys(("afmoe", "cohere2_moe", "unlimited_ocr_text"), _LOCAL),
    **dict.fromkeys(("granite_swa", "granitemoe_swa"), _thetas),
    "laguna": _laguna,
    "qwen3_vl_moe_text": _mlp_only,
    "flint": lambda drawn, rng: {**_LOCAL(drawn, rng), **_mlp_only(drawn, rng)},
    "modernbert-decoder": _LOCAL,
    "helium": lambda drawn, rng: {"head_dim": drawn["hidden_size"] // drawn["num_attention_heads"]},
    "mimo_v2_flash": _halved,
    "lfm2": _conv,
    "lfm2_moe": lambda drawn, rng: (
        {**_conv(drawn, rng), "layer_types": ["conv", "full_attention"] * 4}
        | {"num_hidden_layers": 8, "num_dense_layers": rng.randint(0, 3)}
    ),
    "qwen2_moe": _mlp_only,
    "qwen3_moe": _mlp_only,
    **dict.fromkeys(("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "olmo_hybrid"), _delta),
    "granitemoehybrid": _granite_hybrid,
    "llama4_text": _llama4,
    "llama4": _llama4_whole,
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "glm4_moe_lite", "axk1", "youtu"), _mla),
    **dict.fromkeys(("deepseek_v32", "glm_moe_dsa"), _indexed),
    "minicpm3": lambda drawn, rng: {**_mla(drawn, rng), "v_head_dim": rng.choice([None, 8, 12])},
    "dbrx": _dbrx,
    "mamba": _ssm,
    "falcon_mamba": _ssm,
    "mamba2": _ssm2,
    "jamba": _jamba,
    "bamba": _bamba,
    "kimi_linear": _kimi,
    "bailing_hybrid": _bailing,
    "falcon_h1": _falcon_h1,
    "recurrent_gemma": _rglru,
    "nemotron_h": _nemotron,
    "deberta-v2": _deberta,
    "deberta": _deberta,
    "albert": _albert,
    "beit": _beit,
    "t5gemma": _gemmas,
    "minimax": _layers("linear_attention", "full_attention"),
    "qwen2_5_vl_vision": lambda drawn, rng: {"window_size": rng.choice([32, 96])},
    "longformer": _windows("num_hidden_layers"),
    "led": _windows("encoder_layers"),
    "encoder-decoder": _pair(("bert", "roberta", "electra"), ("bert", "gpt2", "roberta", "bert-generation")),
    "vision-encoder-decoder": _pair(("vit", "deit", "beit"), ("gpt2", "bert", "trocr", "roberta")),
}


def _renamed(chosen: Fields, model_type: str, rng: random.Random) -> Fields:
    """Some fields under the other name that their class knows them by."""
    other = {real: alias for alias, real in described(model_type)["aliases"].items() if rng.random() < 0.2}
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
        "tie_word_embeddings": rng.random() < 0.5,
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
        "is_gated_act": rng.random() < 0.5,
        "initializer_cutoff_factor": 3.0,
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
