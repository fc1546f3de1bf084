"""A small config of every model type that can run: the class's own switches and patterns, with sizes of a few dozen.

Fields are set by their names, so that a new type needs nothing here unless its sizes hang together in its own way.
"""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers.reading import described

Fields = dict[str, Any]

NAMED = (  # the types that are exact for any config
    "llama mistral mixtral qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next gemma gemma2 gemma3_text phi phi3 phimoe falcon"
    " gpt2 gpt_neo gpt_neox gptj codegen opt bloom mpt stablelm starcoder2 gpt_bigcode olmo olmo2 olmo3 olmoe cohere"
    " cohere2 deepseek_v2 deepseek_v3 glm glm4 glm4_moe gpt_oss granite granitemoe llama4_text minimax_m2 smollm3"
    " seed_oss exaone4 ernie4_5 mamba mamba2 falcon_mamba jamba bamba recurrent_gemma nemotron_h bert roberta"
    " xlm-roberta distilbert albert electra deberta-v2 modernbert megatron-bert t5 mt5 umt5 bart mbart pegasus marian"
    " m2m_100 blenderbot whisper vit deit dinov2 beit"
)
SIZES: dict[int, tuple[str, ...]] = {
    32: ("hidden_size", "d_model", "n_embd", "dim", "word_embed_proj_dim", "image_size", "lru_width"),
    4: (
        *(
            "num_attention_heads",
            "n_head",
            "n_heads",
            "encoder_attention_heads",
            "decoder_attention_heads",
            "num_heads",
        ),
        *("num_local_experts", "num_experts", "n_routed_experts", "sliding_window", "window_size", "local_attention"),
        *(
            "attention_window",
            "attention_window_size",
            "rotary_dim",
            "attention_chunk_size",
            "mamba_n_heads",
            "mamba_num_heads",
        ),
    ),
    2: ("num_key_value_heads", "num_kv_heads", "num_experts_per_tok", "decoder_layers", "num_decoder_layers"),
    3: ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
    40: (
        *("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "n_inner", "d_ff", "hidden_dim"),
        *("moe_intermediate_size", "shared_expert_intermediate_size", "intermediate_size_mlp", "ffn_hidden_size"),
        *("moe_shared_expert_intermediate_size", "shared_intermediate_size"),
    ),
    30: (
        "max_position_embeddings",
        "n_positions",
        "max_seq_len",
        "max_target_positions",
        "max_decoder_position_embeddings",
    ),
    12: ("max_source_positions", "max_encoder_position_embeddings", "num_mel_bins"),
    8: (
        "head_dim",
        "d_kv",
        "kv_channels",
        "patch_size",
        "relative_attention_num_buckets",
        "mamba_head_dim",
        "mamba_d_head",
    ),
    16: ("embedding_size", "encoder_stride", "state_size", "ssm_state_size", "mamba_d_state"),
    50: ("vocab_size",),
    1: ("n_group", "topk_group", "first_k_dense_replace", "n_groups", "mamba_n_groups"),
    0: ("pad_token_id",),
}
MLA: Fields = {
    "num_key_value_heads": 4,
    "kv_lora_rank": 12,
    "q_lora_rank": 20,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 8,
    "v_head_dim": 10,
}
DELTA: Fields = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 6,
    "linear_value_head_dim": 8,
    "num_hidden_layers": 5,
}
GEMMA: Fields = {
    "vocab_size": 50,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "sliding_window": 4,
}
SPECIAL: dict[str, Fields] = {
    "qwen3_next": DELTA,
    "gpt_neo": {"num_layers": 4, "attention_types": [[["global", "local"], 2]]},
    "mamba2": {"num_heads": 8, "head_dim": 8},
    "jamba": {"num_hidden_layers": 4, "attn_layer_period": 3, "attn_layer_offset": 1},
    "bamba": {"attn_layer_indices": [1], "mamba_n_heads": 8},
    "recurrent_gemma": {"num_hidden_layers": 4},
    "nemotron_h": {"layers_block_type": ["mamba", "moe", "attention", "mlp"], "num_hidden_layers": 4},
    "llama4_text": {"num_experts_per_tok": 1, "num_hidden_layers": 5},
    "albert": {"num_hidden_groups": 2, "num_hidden_layers": 4, "inner_group_num": 2},
    "deberta-v2": {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 8,
        "conv_kernel_size": 3,
    },
    "beit": {"use_relative_position_bias": True, "layer_scale_init_value": 0.1},
    "phimoe": {"num_key_value_heads": 2},
    "kimi_linear": {"linear_head_dim": 6, "linear_num_heads": 3, "num_hidden_layers": 5, "n_shared_experts": 1},
    "roc_bert": {"pronunciation_vocab_size": 20, "shape_vocab_size": 30, "pronunciation_embed_dim": 7},
    "bailing_hybrid": {"layer_group_size": 2, "n_shared_experts": 1},
    "falcon_h1": {"mamba_d_ssm": 40, "mamba_d_head": 10},
    "t5gemma": {"encoder": GEMMA, "decoder": {**GEMMA, "hidden_size": 48, "num_hidden_layers": 2}},
}


def small(model_type: str, name: str) -> Fields:
    """The JSON object of a config.json for a class of a type."""
    declared = described(model_type)["defaults"]
    sizes = {field: size for size, fields in SIZES.items() for field in fields if field in declared}
    latent = {field: size for field, size in MLA.items() if "kv_lora_rank" in declared and field in declared}
    return {**sizes, **latent, **SPECIAL.get(model_type, {}), "model_type": model_type, "architectures": [name]}
